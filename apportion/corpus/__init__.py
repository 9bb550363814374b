"""Where filings, pages, chunks and questions come from."""
