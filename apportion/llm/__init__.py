"""The gateway to models, the call ledger and the embedded models."""
