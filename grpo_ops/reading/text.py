"""Text from bytes, in the encodings that curves come in."""

import codecs


def text_of(content: bytes, errors: str = "strict") -> str:
    """UTF-16 where it begins with that mark (PowerShell's `>`), else UTF-8, with a mark or without; lines end in `\\n`.

    Raises UnicodeDecodeError for other content, unless `errors` is "replace".
    """
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = content.decode("utf-16" if is_wide else "utf-8-sig", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")
