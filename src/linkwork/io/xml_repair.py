"""Repair of XML mistakes that other readers accept: urdfdom and MuJoCo use TinyXML-2, which is lenient."""

from __future__ import annotations

import re

BLANK = "there is white space before <?xml ...?>, where XML allows none"
DASHES = "there is `--` inside a comment, where XML allows none"
JOINED = "there is no space between two attributes"
AFTER = "the text after the end of the root element is ignored"

BEFORE_DECLARATION = re.compile("\ufeff?[ \t\r\n]+\ufeff?(?=<[?]xml)")
TAG = re.compile("""<[^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>""")
VALUE = re.compile("""("[^"]*"|'[^']*')([^\\s/>?"'])?""")  # and a character that follows without a space
OPAQUE = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}  # markup that is no tag: how it begins and ends
MOST = 400_000  # tags and comments that are repaired: more than any accepted document has


def repaired(text: str) -> tuple[str, list[tuple[int, str]]]:
    """Return the text without the mistakes, on the same lines, and the first line of each kind of mistake."""
    parts: list[str] = []
    mistakes: dict[str, int] = {}
    end_of_copy, begin = 0, text.find("<")
    while begin >= 0 and len(parts) < 2 * MOST:
        opening = next((each for each in OPAQUE if text.startswith(each, begin)), "")
        if opening:
            end = text.find(OPAQUE[opening], begin + len(opening)) + len(OPAQUE[opening])
            part = repair = text[begin:end]
            if opening == "<!--" and ("--" in part[4:-3] or part.endswith("--->")):
                repair = "<!--" + "\n" * part.count("\n") + "-->"
        else:
            tag = TAG.match(text, begin)
            end = tag.end() if tag else 0
            part = text[begin:end]
            repair = VALUE.sub(lambda value: f"{value[1]} {value[2]}" if value[2] else value[1], part)
        if end <= begin:  # markup without an end: the rest cannot be parsed
            break
        mistake = DASHES if opening else JOINED
        if repair != part and mistake not in mistakes:
            mistakes[mistake] = text.count("\n", 0, begin) + 1
        parts += [text[end_of_copy:begin], repair]
        end_of_copy, begin = end, text.find("<", end)
    return "".join([*parts, text[end_of_copy:]]), [(line, mistake) for mistake, line in mistakes.items()]
