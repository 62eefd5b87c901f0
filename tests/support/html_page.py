"""A page of HTML, read strictly."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Tags with their attributes, and the text outside of the style; fails where tags do not match."""

    VOID = ("meta",)

    def __init__(self, text: str):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data
