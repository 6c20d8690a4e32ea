"""How the values of evalkit show themselves: one description, as HTML in a notebook and as text.

A `Card` is plain texts. Its HTML is static and escaped, holds no script and no outside address,
and still reads well where a notebook strips styles and drawings from what it does not trust.
"""
