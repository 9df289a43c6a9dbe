"""Code blocks: a head with the language and the code in pygments' short classes."""

from html import escape

from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

# Lexers are regular expressions, and some run wild on hostile text: only well-trodden ones, and short text.
LANGUAGES = frozenset(
    """
    bash c c# c++ console cpp cs csharp css dart diff docker dockerfile elixir go golang graphql haskell html ini
    java javascript js json jsx kotlin latex lua make makefile nginx objective-c perl php postgresql powershell
    ps1 py pycon python python3 r rb ruby rs rust scala scss sh shell sql sqlite3 swift tex toml ts tsx typescript
    xml yaml yml zsh
    """.split()
)
LONGEST_HIGHLIGHTED = 20_000


def code_block(code: str, language: str, *, coloured: bool = True) -> str:
    """The block as HTML. `language` is shown as written; one that is not known, or long code, stays plain."""
    lexer = _lexer(language) if coloured and len(code) <= LONGEST_HIGHLIGHTED else None
    inner = highlight(code, lexer, HtmlFormatter(nowrap=True)) if lexer else escape(code)
    head = f'<div class="code-head"><span>{escape(language[:40])}</span></div>'
    return f'<div class="code">{head}<pre class="highlight"><code>{inner}</code></pre></div>\n'


def _lexer(language: str) -> Lexer | None:
    if language.lower() not in LANGUAGES:
        return None
    try:
        # Blank lines and a missing last line end are part of the code somebody will copy.
        return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None
