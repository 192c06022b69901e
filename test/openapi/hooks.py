"""What the run knows of weir: models that it serves here, and which errors the document lists."""

import zlib

import schemathesis
from schemathesis.core.failures import Failure

# In weir itself, and at a host that speaks each of the formats.
PREFIXES = ["mock", "chat-host/mock", "messages-host/mock"]
MODELS = [
    f"{prefix}/{name}"
    for prefix in PREFIXES
    for name in ("chat", "echo", "reason", "tools", "empty", "long-20", "content-filter")
]
UNSERVED = "none/such"


@schemathesis.hook
def before_call(context, case, kwargs):
    """A random model name is a 404: bodies with a model get one that weir serves, and half of the valid ones stream."""
    body = case.body
    if not isinstance(body, dict) or not isinstance(body.get("model"), str) or body["model"] == "":
        return
    draw = zlib.crc32(repr(body).encode("utf-8", "surrogatepass"))
    case.body = {**body, "model": [*MODELS, UNSERVED][draw % (len(MODELS) + 1)]}
    if is_valid(case) and draw & 64:
        case.body["stream"] = True


def is_valid(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def code_of(response):
    """The code of an error in the format of either vendor."""
    try:
        error = response.json()["error"]
        return error.get("code") or (error.get("details") or {}).get("error_code")
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


class UndocumentedError(Failure):
    kind_title = "Undocumented error"

    @property
    def _unique_key(self):
        return self.message


@schemathesis.check
def documented_errors(ctx, response, case):
    """An error has a status and a code that the operation lists, and the refusal of a valid request has a code."""
    status = response.status_code
    if status < 400 or status == 405:
        return
    documented = case.operation.definition.raw["responses"].get(str(status))
    code = code_of(response)
    reason = None
    if documented is None:
        reason = f"the document has no status {status} here"
    elif code is not None and code not in documented.get("x-error-codes", []):
        reason = f"the document has no code {code} with status {status} here"
    elif code is None and status == 400 and is_valid(case):
        reason = f"a valid request was refused without a code: {response.text[:300]}"
    if reason is not None:
        raise UndocumentedError(operation=case.operation.label, message=reason)
