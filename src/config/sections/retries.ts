/** Options of retries and of the circuit breaker: of the gateway, and of single models. */
import type { Fault, Path } from "../error.ts";
import type { ByCause } from "../../core/failure-policy.ts";
import { section } from "../section.ts";
import { Type } from "@sinclair/typebox";
import type { FailureCause } from "../../core/failure-policy.ts";
import { DEFAULT_CIRCUIT_BREAKER } from "../../core/merge-policies.ts";
import { CLOSED } from "./kinds.ts";

/** Most attempts of a call. */
export const MOST_ATTEMPTS = 10;
export const DEFAULT_ATTEMPTS = 3;
/** Most failures in a row that a deployment may have. */
const MOST_FAILURES = 1_000_000;

/** The meaning of each cause of a failure, for people. */
const CAUSES: Readonly<Record<FailureCause, string>> = {
  connection: "no connection (refused, DNS, TLS), or one that broke before the answer",
  timeout: "no connection or no answer in time, 408, 504",
  rateLimited: "429",
  overloaded: "503, 529, 425",
  serverError: "500 and other errors of the provider, 409",
  invalidAnswer: "an answer that cannot be read, or one without content",
  authentication: "a refused credential (401, 403), an account without funds",
};

const byCause = (minimum: number, maximum: number, example: number, description: string) => {
  const one = (cause: FailureCause) =>
    Type.Optional(
      Type.Integer({ minimum, maximum, examples: [example], description: `After ${CAUSES[cause]}.` }),
    );
  return Type.Optional(
    Type.Unsafe<Partial<Record<FailureCause, number>>>(
      Type.Object(
        {
          connection: one("connection"),
          timeout: one("timeout"),
          rateLimited: one("rateLimited"),
          overloaded: one("overloaded"),
          serverError: one("serverError"),
          invalidAnswer: one("invalidAnswer"),
          authentication: one("authentication"),
        },
        { ...CLOSED, description },
      ),
    ),
  );
};

const retryPolicy = byCause(
  0,
  MOST_ATTEMPTS - 1,
  1,
  "How often weir repeats a call after a failure of each cause.",
);

const breakerPolicy = byCause(
  1,
  MOST_FAILURES,
  5,
  "After how many failures in a row of one cause weir skips a deployment.",
);

const attempts = { minimum: 1, maximum: MOST_ATTEMPTS };
const failures = { minimum: 1, maximum: MOST_FAILURES };
const duration = { minimum: 1, maximum: 86_400_000 };

export const retries = section(
  "retries",
  Type.Object(
    {
      attempts: Type.Integer({
        ...attempts,
        default: DEFAULT_ATTEMPTS,
        description:
          "Maximum number of attempts per call. When all failed, the client gets the last error. 1: no retries.",
      }),
      maybeSent: Type.Boolean({
        default: true,
        description:
          "Whether weir retries a call once when the connection broke or timed out before an answer. The provider may have processed the first request and may charge for both.",
      }),
      policy: retryPolicy,
    },
    { ...CLOSED, description: "Retries." },
  ),
  { faults: (own) => retryFaults([], { retries: own as WrittenPolicies["retries"] }) },
);

/** `retries` of one model. */
export const modelRetries = Type.Optional(
  Type.Object(
    {
      attempts: Type.Optional(Type.Integer(attempts)),
      maybeSent: Type.Optional(Type.Boolean()),
      policy: retryPolicy,
    },
    { ...CLOSED, description: "Retries of calls for this model. Missing values default to `retries`." },
  ),
);

export const circuitBreaker = section(
  "circuitBreaker",
  Type.Object(
    {
      enabled: Type.Boolean({
        default: DEFAULT_CIRCUIT_BREAKER.enabled,
        description: "`false`: weir skips no deployment, however often it fails (no cool-down).",
      }),
      failures: Type.Integer({
        ...failures,
        default: DEFAULT_CIRCUIT_BREAKER.failures,
        description: "Failures in a row after which weir skips a deployment (allowed failures, plus one).",
      }),
      cooldownMs: Type.Integer({
        ...duration,
        default: DEFAULT_CIRCUIT_BREAKER.cooldownMs,
        description:
          "How long weir skips a deployment that fails before one call probes it, in milliseconds. Each failed probe doubles the time.",
      }),
      longestCooldownMs: Type.Integer({
        ...duration,
        default: DEFAULT_CIRCUIT_BREAKER.longestCooldownMs,
        description: "The longest such time, in milliseconds. A `retry-after` of the provider may be longer.",
      }),
      policy: breakerPolicy,
    },
    { ...CLOSED, description: "When weir skips a deployment that fails, and how long." },
  ),
  { faults: (own) => retryFaults([], { circuitBreaker: own as WrittenPolicies["circuitBreaker"] }) },
);

/** `circuitBreaker` of one model. */
export const modelCircuitBreaker = Type.Optional(
  Type.Object(
    {
      enabled: Type.Optional(Type.Boolean()),
      failures: Type.Optional(Type.Integer(failures)),
      cooldownMs: Type.Optional(Type.Integer(duration)),
      longestCooldownMs: Type.Optional(Type.Integer(duration)),
      policy: breakerPolicy,
    },
    {
      ...CLOSED,
      description: "When weir skips a deployment of this model. Missing values default to `circuitBreaker`.",
    },
  ),
);

/** Policies of one scope in the file: of all calls, or of those for a model. */
export interface WrittenPolicies {
  retries?: { attempts?: number; policy?: ByCause };
  circuitBreaker?: { cooldownMs?: number; longestCooldownMs?: number };
}

/** @param common what holds where the scope says nothing */
export function retryFaults(base: Path, own: WrittenPolicies, common: WrittenPolicies = {}): Fault[] {
  const attempts = own.retries?.attempts ?? common.retries?.attempts ?? DEFAULT_ATTEMPTS;
  const tooMany = Object.entries(own.retries?.policy ?? {}).filter(([, most]) => most > attempts - 1);
  const { cooldownMs = DEFAULT_CIRCUIT_BREAKER.cooldownMs, longestCooldownMs: longest } = {
    longestCooldownMs: DEFAULT_CIRCUIT_BREAKER.longestCooldownMs,
    ...common.circuitBreaker,
    ...own.circuitBreaker,
  };
  const isWrong = own.circuitBreaker !== undefined && cooldownMs > longest;
  const option = own.circuitBreaker?.cooldownMs === undefined ? "longestCooldownMs" : "cooldownMs";
  return [
    ...tooMany.map(([cause, most]) => ({
      path: [...base, "retries", "policy", cause],
      clause: `${cause} is ${most}, but retries.attempts: ${attempts} allows ${attempts - 1}; set attempts to ${most + 1}`,
    })),
    ...(isWrong
      ? [
          {
            path: [...base, "circuitBreaker", option],
            clause: `cooldownMs (${cooldownMs}) is longer than longestCooldownMs (${longest})`,
          },
        ]
      : []),
  ];
}
