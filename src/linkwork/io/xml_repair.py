"""Mistakes of XML that readers of robot files overlook: urdfdom and MuJoCo read through TinyXML-2, which is lenient."""

from __future__ import annotations

import re

BLANK = "white space stands before <?xml ...?>, where XML allows none"
DASHES = "`--` stands inside a comment, where XML allows none"
JOINED = "there is no blank between two attributes"
AFTER = "what follows the end of the robot's element is ignored"

BEFORE_DECLARATION = re.compile("\ufeff?[ \t\r\n]+\ufeff?(?=<[?]xml)")
TAG = re.compile("""<[^<>"']*(?:(?:"[^"<]*"|'[^'<]*')[^<>"']*)*>""")
VALUE = re.compile("""("[^"]*"|'[^']*')([^\\s/>?"'])?""")  # and the beginning of what follows at once
OPAQUE = {"<!--": "-->", "<![CDATA[": "]]>", "<?": "?>"}  # what is no tag: how it begins and ends
MOST = 400_000  # tags and comments that are looked at: more than any document has that is read


def repaired(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text without the mistakes, each part in its line, and these with their lines: of each kind the first."""
    parts: list[str] = []
    mistakes: dict[str, int] = {}
    done, begin = 0, text.find("<")
    while begin >= 0 and len(parts) < 2 * MOST:
        opening = next((each for each in OPAQUE if text.startswith(each, begin)), "")
        if opening:
            end = text.find(OPAQUE[opening], begin + len(opening)) + len(OPAQUE[opening])
            part = mended = text[begin:end]
            if opening == "<!--" and ("--" in part[4:-3] or part.endswith("--->")):
                mended = "<!--" + "\n" * part.count("\n") + "-->"
        else:
            found = TAG.match(text, begin)
            end = found.end() if found else 0
            part = text[begin:end]
            mended = VALUE.sub(lambda value: f"{value[1]} {value[2]}" if value[2] else value[1], part)
        if end <= begin:  # it has no end: no more can be understood
            break
        mistake = DASHES if opening else JOINED
        if mended != part and mistake not in mistakes:
            mistakes[mistake] = text.count("\n", 0, begin) + 1
        parts += [text[done:begin], mended]
        done, begin = end, text.find("<", end)
    return "".join([*parts, text[done:]]), [(line, mistake) for mistake, line in mistakes.items()]
