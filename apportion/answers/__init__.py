"""What an answer's text says: its figures, its words, whether it abstains. It knows neither models nor judges."""
