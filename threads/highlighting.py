"""Code blocks: a head with the language and the code in pygments' short classes."""

from html import escape
from io import StringIO
from time import thread_time

from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name

# Lexers are regular expressions, and some run wild on hostile text (20,000 line ends in C took 20 s): only
# well-trodden ones, only so much text, and only so much time, after which the block is plain.
LANGUAGES = frozenset(
    {"bash", "c", "c#", "c++", "cpp", "cs", "csharp", "css"}
    | {"dart", "diff", "docker", "dockerfile", "elixir", "go", "golang", "graphql"}
    | {"haskell", "html", "java", "javascript", "js", "json", "jsx", "kotlin"}
    | {"latex", "lua", "make", "makefile", "nginx", "objective-c", "perl", "php"}
    | {"postgresql", "powershell", "ps1", "py", "python", "python3", "r", "rb"}
    | {"ruby", "rs", "rust", "scala", "scss", "sh", "shell", "sql"}
    | {"sqlite3", "swift", "tex", "toml", "ts", "tsx", "typescript", "xml"}
    | {"yaml", "yml"}
)
LONGEST_COLOURED = 10_000
SLOWEST_SECONDS = 0.2


def code_block(code: str, language: str, *, coloured: bool = True) -> str:
    """The block as HTML. `language` is shown as written; unknown languages and long code are not coloured."""
    inner = _colour(code, language) if coloured and len(code) <= LONGEST_COLOURED else None
    head = f'<div class="code-head"><span>{escape(language[:40])}</span></div>'
    code_html = escape(code) if inner is None else inner
    return f'<div class="code">{head}<pre class="highlight"><code>{code_html}</code></pre></div>\n'


def _colour(code: str, language: str) -> str | None:
    lexer = _lexer(language)
    if lexer is None:
        return None
    tokens, end = [], thread_time() + SLOWEST_SECONDS
    for token in lexer.get_tokens(code):
        tokens.append(token)
        if thread_time() > end:
            return None
    html = StringIO()
    HtmlFormatter(nowrap=True).format(iter(tokens), html)
    return html.getvalue()


def _lexer(language: str) -> Lexer | None:
    if language.lower() not in LANGUAGES:
        return None
    # Blank lines and a missing last line end are part of the code somebody will copy.
    return get_lexer_by_name(language.lower(), stripnl=False, ensurenl=False)
