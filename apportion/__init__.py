"""Token-budgeted answering of questions over company filings: choose one arm per item, under a budget or at a price."""
