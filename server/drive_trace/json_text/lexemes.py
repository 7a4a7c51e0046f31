"""What a string looks like in any record, broken ones too: the one pattern of those who look at
the text of a record without a tree of it.

An escape is a backslash and any character. Where nothing closes a string, its inside reaches to the
end of the text, so that no quote in it is tried anew.
Atomic groups, as Python 3.11.0 to 3.11.4 match possessive ones wrongly.
"""

INSIDE = r'(?>[^"\\]*(?:\\.[^"\\]*)*)'
STRING = rf'"{INSIDE}"'
