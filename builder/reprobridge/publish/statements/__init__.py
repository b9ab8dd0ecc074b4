"""What is said about an image: in-toto statements, the same bytes again for the same image."""
