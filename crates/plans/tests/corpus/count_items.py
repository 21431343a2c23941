"""Finds the check boxes of Markdown texts, independently of segue's readers.

Input: one JSON array of texts on standard input. Output: one JSON array with, for each text, [line, done] of each box.
A box is a list marker, white space, and at most one character in brackets, outside fenced code. Comments are not looked at.
"""

import json
import re
import sys

BOX = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+\[(.?)\]\*?(?=[ \t]|$)")
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})(.*)$")
DONE = set("xX✓✔✅")
OPEN = set(" -~/>!")


def boxes(text):
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fence, found = None, []
    for number, line in enumerate(lines, 1):
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
                fence = None
            continue
        if mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            continue
        box = BOX.match(line)
        if box and box[1] and box[1] in DONE:
            found.append([number, True])
        elif box and (not box[1] or box[1] in OPEN):
            found.append([number, False])
    return found


if __name__ == "__main__":
    json.dump([boxes(text) for text in json.load(sys.stdin)], sys.stdout)
