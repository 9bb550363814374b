"""`python -m orchestration` is `apportion`."""

from orchestration.cli import main

main()
