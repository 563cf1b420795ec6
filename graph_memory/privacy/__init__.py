"""Who may be told what: scope of rows, confidences, secrets nobody is shown."""
