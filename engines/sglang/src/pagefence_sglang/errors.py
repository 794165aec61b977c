"""What a user is told in one line."""


class UserError(Exception):
    """Something that the user can mend; the message says what, and how."""
