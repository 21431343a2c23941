"""Counts the check boxes of Markdown texts, independently of segue's readers.

Input: one JSON array of texts on standard input. Output: one JSON array of [open, done] pairs.
A box is a list marker, white space, and one character in brackets, outside fenced code.
"""

import json
import re
import sys

BOX = re.compile(r"^[ \t]*(?:[-*+•]|\d{1,4}[.)])[ \t]+\[(.?)\]\*?(?=[ \t]|$)")
FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})(.*)$")
DONE = set("xX✓✔✅")
OPEN = set(" -~/>!")


def count(text):
    lines = text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    fence, opened, done = None, 0, 0
    for line in lines:
        mark = FENCE.match(line)
        if fence:
            if mark and mark[1][0] == fence[0] and len(mark[1]) >= len(fence) and not mark[2].strip():
                fence = None
            continue
        if mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            continue
        box = BOX.match(line)
        if box and box[1] in DONE and box[1]:
            done += 1
        elif box and (box[1] in OPEN or not box[1]):
            opened += 1
    return [opened, done]


if __name__ == "__main__":
    json.dump([count(text) for text in json.load(sys.stdin)], sys.stdout)
