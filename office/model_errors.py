"""What can go wrong with a model server, under stable codes, the provider's words made short and harmless."""

import json
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

import openai

from office.redaction import redact

WORDS_LIMIT = 200
RETRYABLE = {
    "rate_limited",
    "server_error",
    "unreachable",
    "timed_out_first",
    "timed_out_between",
    "timed_out_total",
    "cut_off",
    "no_finish",
}
QUOTA = re.compile(r"insufficient[_ ](quota|balance|credit)|exceeded your current quota|billing|out of credits", re.I)
TOO_LONG = re.compile(
    r"context[_ ](length|size|window)|maximum context|prompt is too long|exceeds? the (available )?context"
    r"|too many (input )?tokens|input is too long|reduce the length",
    re.I,
)
FILTERED = re.compile(r"content[_ ](filter|policy|management)|responsible\\s?ai|safety system", re.I)
NOT_TAKEN = re.compile(
    r"unsupported|not supported|unrecogni[sz]ed|unknown|unexpected|not permitted|not allowed|does not support"
    r"|extra (fields|inputs)|extra_forbidden|invalid (argument|parameter)|only .* supported",
    re.I,
)
ROLE = re.compile(r"\b(system|developer)\b", re.I)
CODES: dict[str, str] = {
    "invalid_api_key": "key_refused",
    "insufficient_quota": "quota_exhausted",
    "rate_limit_exceeded": "rate_limited",
    "model_not_found": "model_not_found",
    "context_length_exceeded": "context_too_long",
    "exceed_context_size_error": "context_too_long",
    "content_filter": "content_filter",
    "content_policy_violation": "content_filter",
}
NEEDED = {"model", "messages", "stream"}  # parameters that cannot be left out of a request


class ModelError(Exception):
    """A model call failed.

    `code` is stable and has a sentence in `errors.<code>`; `retryable` says whether the same request may
    succeed later, `retry_after` (seconds) when the provider named a time. `parameter` is what
    `unknown_parameter` was about: the name of a parameter, or `role:system` / `role:developer`.
    `provider_words` is for the admin: short, and free of keys and addresses. `status` is the HTTP status,
    when there was one.
    """

    def __init__(
        self,
        code: str,
        *,
        retry_after: float | None = None,
        provider_words: str = "",
        parameter: str | None = None,
        status: int | None = None,
        retryable: bool | None = None,
    ) -> None:
        super().__init__(f"{code}: {provider_words}" if provider_words else code)
        self.code, self.retry_after, self.provider_words = code, retry_after, provider_words
        self.parameter, self.status = parameter, status
        self.retryable = code in RETRYABLE if retryable is None else retryable


def error_from_status(problem: openai.APIStatusError, key: str, sent: Mapping[str, Any]) -> ModelError:
    """The error for an answer with a status that is not a success; `sent` is the body of the request."""
    status, body = problem.status_code, _problem_in(problem.body)
    words = clean_words(body.get("message", ""), key)
    code, parameter = _code(status, body, sent)
    delay = _retry_after(problem.response.headers) if code in {"rate_limited", "server_error"} else None
    return ModelError(code, retry_after=delay, provider_words=words, parameter=parameter, status=status)


def error_from_event(content: Any, key: str, sent: Mapping[str, Any]) -> ModelError:
    """The error for an `{"error": …}` event in mid-stream; without a known code it is the server's fault."""
    body = _problem_in(content)
    number = str(body.get("status") or body.get("code") or "")
    status = int(number) if re.fullmatch(r"[45]\d\d", number) else None
    code, parameter = _code(status or 500, body, sent)
    words = clean_words(body.get("message", ""), key)
    return ModelError(code, provider_words=words, parameter=parameter, status=status)


def error_from_connection(problem: openai.APIConnectionError) -> ModelError:
    """The error for a connection that could not be made, or was lost before the answer began."""
    begun = type(problem.__cause__).__name__ in {"RemoteProtocolError", "ReadError"}
    return ModelError("cut_off" if begun else "unreachable")


def clean_words(words: Any, key: str = "") -> str:
    """A provider's message on one short line, without the key, other secrets, addresses or markup."""
    text = words if isinstance(words, str) else json.dumps(words, ensure_ascii=False, default=str)
    if re.match(r"\s*<(!doctype|html|h1|head|body)", text, re.I):
        return ""
    for secret in {key, quote(key, safe="")} if len(key) >= 4 else ():
        text = text.replace(secret, "[hidden]")
    text = re.sub(r"\b[a-z][a-z0-9+.-]*://\S+", "[address]", text, flags=re.I)
    text = " ".join(redact(text).split()).encode("utf-8", "replace").decode()
    return text if len(text) <= WORDS_LIMIT else text[: WORDS_LIMIT - 1] + "…"


def _problem_in(body: Any) -> dict[str, Any]:
    """The part of an error body that holds message, code and param, whatever dialect it is in."""
    if isinstance(body, dict) and isinstance(body.get("error"), dict | str):
        body = body["error"]
    if isinstance(body, dict):
        message = body.get("message") or body.get("detail") or body.get("msg") or ""
        return {**body, "message": message if isinstance(message, str) else json.dumps(message, default=str)}
    return {"message": body if isinstance(body, str) else ""}


def _code(status: int, body: Mapping[str, Any], sent: Mapping[str, Any]) -> tuple[str, str | None]:
    named = str(body.get("code") or body.get("type") or "")
    message = str(body.get("message", ""))
    if named in CODES and status != 401:
        code = CODES[named]
        return ("quota_exhausted" if code == "rate_limited" and QUOTA.search(message) else code), None
    if status in (400, 413, 422):
        return _refused_request(status, body, message, sent)
    return _by_status(status, f"{named} {body.get('type') or ''} {message}"), None


def _by_status(status: int, words: str) -> str:
    if status == 429:
        return "quota_exhausted" if QUOTA.search(words) else "rate_limited"
    if status == 404:
        return "model_not_found" if re.search(r"\bmodel", words, re.I) else "not_a_model_server"
    plain = {
        401: "key_refused",
        402: "quota_exhausted",
        403: "not_allowed",
        408: "server_error",
        409: "server_error",
    }
    if status in plain:
        return plain[status]
    if status >= 500:
        return "server_error"
    return "not_a_model_server" if status < 400 or status == 405 else "bad_request"


def _refused_request(
    status: int, body: Mapping[str, Any], message: str, sent: Mapping[str, Any]
) -> tuple[str, str | None]:
    named = f"{body.get('code') or ''} {body.get('type') or ''}"
    if status == 413 or TOO_LONG.search(f"{named} {message}"):
        return "context_too_long", None
    if FILTERED.search(f"{named} {message}"):
        return "content_filter", None
    parameter = _parameter(body, message, sent)
    if parameter and NOT_TAKEN.search(f"{named} {message}"):
        return "unknown_parameter", parameter
    return "bad_request", parameter


def _parameter(body: Mapping[str, Any], message: str, sent: Mapping[str, Any]) -> str | None:
    """The parameter a refusal is about: the one it names, or the one of those sent that its words mention."""
    param = str(body.get("param") or "")
    about_role = "role" in f"{param} {message}".lower()
    if about_role and (role := _role(message, sent, named=param.endswith("role"))):
        return f"role:{role}"
    root = re.split(r"[.\[]", param)[0]
    if root in sent and root not in NEEDED:
        return root
    mentioned = [name for name in sent if name not in NEEDED and re.search(rf"\b{re.escape(name)}\b", message)]
    return max(mentioned, key=len) if mentioned else None


def _role(message: str, sent: Mapping[str, Any], named: bool) -> str | None:
    """The special role the refusal is about, if the request used one."""
    used = {str(item.get("role")) for item in sent.get("messages", ()) if isinstance(item, dict)}
    for found in ROLE.finditer(message):
        if found.group().lower() in used:
            return found.group().lower()
    if not named and not re.search(r"only .*(user|assistant)", message, re.I):
        return None
    return next((role for role in ("developer", "system") if role in used), None)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait as the provider said, from milliseconds, seconds or a date."""
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        written = headers.get(name, "")
        if re.fullmatch(r"\d{1,9}(\.\d+)?", written.strip()):
            return float(written) / unit
    try:
        return max(0.0, parsedate_to_datetime(headers.get("retry-after", "")).timestamp() - time.time())
    except (TypeError, ValueError):
        return None
