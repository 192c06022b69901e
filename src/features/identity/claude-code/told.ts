/**
 * Answers to people who signed in, as Claude Code reads them: how much of the budget is used in headers of each answer, and why a
 * call is refused (the protocol document of its own gateway, 2.1.328, "Usage-limit headers" and "Errors").
 */
import type { Call } from "../../../core/call.ts";
import { GatewayError } from "../../../core/error.ts";
import { capsOf } from "../../../core/caps.ts";
import type { Principal } from "../../../core/principal.ts";
import { LedgerRefusal, type RefusedBudget, SPEND_LIMIT_REACHED } from "../../../core/refusal.ts";
import { Slot } from "../../../core/slot.ts";
import { fullest, partOf } from "../../../core/standing.ts";
import type { Told } from "../../../gateway/seams.ts";

/** Headers that a vendor sends about the limits of the operator's account. */
const OF_ACCOUNT = "anthropic-ratelimit-";
const UNIFIED = "anthropic-ratelimit-unified-";
/** Above these parts of a cap the client shows a notice, once for each. */
const THRESHOLDS = [0.95, 0.75];

/** The headers of the refusal are weir's. */
const isOurs = new Slot<true>();

export const told: Told = {
  error(call, error) {
    const principal = signedIn(call);
    const said = principal ? reworded(error, principal) : error;
    if (said !== error) isOurs.set(call, true);
    return said;
  },
  headers(call, headers) {
    const principal = signedIn(call);
    if (!principal || isOurs.get(call)) return headers;
    // Where weir has rate limits of its own, those of the account have another name already.
    const rates = call.limits?.figures()?.rates ?? {};
    const own = Object.keys(rates).length > 0 ? headers : withoutAccount(headers);
    return call.outcome === "failed" ? own : { ...own, ...standingOf(call, principal) };
  },
};

/** Whose call of the Messages API it is, if weir has made the token. */
export function signedIn({ principal, route }: Call): Principal | undefined {
  return route?.path === "/v1/messages" && principal?.via?.startsWith("weir/") ? principal : undefined;
}

function withoutAccount(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isOwn = ([name]: [string, string]) => !name.toLowerCase().startsWith(OF_ACCOUNT);
  return Object.fromEntries(Object.entries(headers).filter(isOwn));
}

/** Nothing for a person without a cap. */
function standingOf(call: Call, principal: Principal): Record<string, string> {
  const cap = fullest(capsOf(call.limits, principal));
  if (!cap) return {};
  const part = partOf(cap);
  const passed = THRESHOLDS.find((threshold) => part >= threshold);
  const status = passed === undefined ? "allowed" : "allowed_warning";
  const reset = String(Math.floor(cap.resetsAt / 1_000));
  return unified({
    ...{ status, "overage-status": status, "representative-claim": "overage" },
    // The client reads 1 as spent, and this call was admitted.
    "overage-utilization": Math.min(0.99, Math.floor(part * 100 + 1e-9) / 100).toFixed(2),
    ...(passed !== undefined && { "overage-surpassed-threshold": String(passed) }),
    ...{ reset, "overage-reset": reset },
  });
}

function unified(values: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [UNIFIED + name, value]));
}

function reworded(error: GatewayError, principal: Principal): GatewayError {
  if (error instanceof LedgerRefusal && error.budget) return spent(error, error.budget, principal);
  if (error.code === "ledger_unavailable") return uncounted(error);
  // A model that is not permitted is a fault of the request for this client.
  if (error.code === "model_not_allowed")
    return new GatewayError("invalid-request", error.message, { code: error.code, param: error.param });
  return error;
}

/** Without `overage-status` and `representative-claim`: with them the client puts a sentence of its own in place of the message. */
function spent({ message }: LedgerRefusal, budget: RefusedBudget, { path }: Principal): GatewayError {
  const { resetsAt, period } = budget;
  const reset = resetsAt === undefined ? undefined : String(Math.ceil(resetsAt / 1_000));
  const isShared = budget.path !== path || path === "/";
  return new GatewayError("quota", `${message.replace(/\.$/, "")}; the gateway's operator can raise it.`, {
    ...{ code: SPEND_LIMIT_REACHED, shouldRetry: false },
    headers: {
      ...(resetsAt !== undefined && {
        "retry-after": String(Math.max(1, Math.ceil((resetsAt - Date.now()) / 1_000))),
      }),
      ...unified({
        status: "rejected",
        ...(reset !== undefined && { reset, "overage-reset": reset }),
        ...{ "overage-utilization": "1", "overage-surpassed-threshold": "1" },
        ...(reset !== undefined && { "overage-period": period }),
        "overage-disabled-reason": "org_spend_cap_reached",
        ...(isShared && { "overage-scope": "group_pool" }),
      }),
    },
  });
}

/** What is left of a budget is not known, and the operator wants no calls then. */
function uncounted({ message }: GatewayError): GatewayError {
  return new GatewayError("quota", message, {
    ...{ code: SPEND_LIMIT_REACHED, shouldRetry: false },
    headers: unified({ "overage-disabled-reason": "fetch_error" }),
  });
}
