"""What commands and the chat model's tools answer, without AstrBot."""
