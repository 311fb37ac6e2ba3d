"""The jar, which the build copies here."""
