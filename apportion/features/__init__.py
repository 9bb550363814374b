"""What is known when a deeper call is decided on."""
