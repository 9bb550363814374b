"""What an analyst knows, as data: line items, metrics and topics, in TOML files that users extend with their own."""
