/** Batches: work that may wait. */
import { Type } from "@sinclair/typebox";
import { webhookFault } from "../../config/address.ts";
import { type Fault, faultAt } from "../../config/error.ts";
import { section } from "../../config/section.ts";
import { size } from "../../config/sections/amounts.ts";
import { CLOSED, oneOf, secret } from "../../config/sections/kinds.ts";

/** The batch APIs of vendors that weir speaks. */
const APIS = ["openai", "azure", "mistral", "anthropic", "gemini"] as const;

export type Api = (typeof APIS)[number];

const HOUR_MS = 3_600_000;
const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: HOUR_MS, d: 24 * HOUR_MS };
const LONGEST_MS = 30 * 24 * HOUR_MS;

const window = (description: string) =>
  Type.String({
    pattern: "^[1-9][0-9]{0,3}[mhd]$",
    "x-expects": "a time such as 90m, 24h or 2d",
    default: "24h",
    description,
  });

export const batchesSection = section(
  "batches",
  Type.Object(
    {
      on: Type.Boolean({ default: true, description: "Whether clients may have batches." }),
      concurrency: Type.Integer({
        minimum: 1,
        maximum: 1_000,
        default: 16,
        description:
          "Lines of batches that one worker process runs at the same time. Of a `concurrency` of their provider they take at most three quarters.",
      }),
      yield: Type.Boolean({
        default: true,
        description:
          "Whether lines let the calls of clients go first: they wait while the process of the worker is busy, while clients wait for first bytes of a model 1.5 times as long as in the last ten minutes, and while a provider wants no calls.",
      }),
      window: window("Longest time for which a client may let a batch run."),
      retries: Type.Integer({
        minimum: 0,
        maximum: 20,
        default: 3,
        description:
          "How often a line is tried again after an error that may pass: 408, 409, 429, 5xx and answers that broke off.",
      }),
      again: Type.Boolean({
        default: false,
        description:
          "Whether a line that ran when its process ended is run once more, and may then be paid twice. Off: it ends as `upstream_lost`.",
      }),
      share: oneOf(["key", "path"], {
        default: "key",
        description:
          "Who sees a batch: the key or person that made it (`key`), or all keys of the same path (`path`).",
      }),
      folder: Type.Optional(
        Type.String({
          description:
            "Folder of the journals. Default: `batches` in the state folder. Several nodes that take over batches from each other need one that all of them have.",
        }),
      ),
      admit: oneOf(["fit", "lines"], {
        default: "fit",
        description:
          "`fit`: under a hard budget the whole batch must fit what is left of it, or is refused. `lines`: lines run until the budget is used up, and the rest are `insufficient_quota`.",
      }),
      how: oneOf(["auto", "native", "run"], {
        default: "auto",
        description:
          "`auto`: lines of which the model has one provider, without alternatives, and this provider has a batch API, go there at its lower price; weir runs the others, and those of a batch that the provider refuses as a whole. `native`: the same, but a refused batch fails. `run`: weir runs all lines.",
      }),
      native: Type.Record(
        Type.String(),
        Type.Object(
          {
            api: oneOf([...APIS, "none"], {
              description: "The batch API that the provider has; `none`: weir runs its lines.",
            }),
            price: Type.Optional(
              Type.Number({
                minimum: 0,
                maximum: 1,
                description:
                  "Share of the ordinary price that the provider takes. Default: `prices.NAME.batch` of the model, else 0.5.",
              }),
            ),
          },
          CLOSED,
        ),
        {
          default: {},
          description:
            "Batch APIs by the name of the provider. The vendors' own are known; a provider at another address needs an entry.",
        },
      ),
      mixed: Type.Boolean({
        default: true,
        description:
          "Whether the lines of a batch may name different models; at a provider each model then has a batch of its own. Off: the batch fails with `model_mismatch`, as at OpenAI.",
      }),
      webhook: Type.Object(
        {
          url: Type.Optional({
            ...secret("URL that gets a POST when a batch has ended, in the form of OpenAI's events."),
            examples: ["https://hooks.example.com/batches"],
          }),
          secret: Type.Optional({
            ...secret(
              "Signs the requests by the rules of Standard Webhooks: `whsec_` and base64, or any text.",
            ),
            examples: ["${WEIR_BATCH_SECRET}"],
          }),
        },
        {
          ...CLOSED,
          default: {},
          description: "The receiver that learns of the end of each batch: `url` and `secret`.",
        },
      ),
      poll: Type.Integer({
        minimum: 1,
        maximum: 300,
        default: 10,
        description:
          "Seconds until a batch of a provider is looked at for the first time; waits grow to five minutes.",
      }),
      discount: Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0,
        description: "What weir takes off the price of lines that it runs itself: 0.5 for half of it.",
      }),
      outputShare: Type.Number({
        minimum: 0,
        maximum: 1,
        default: 1,
        description:
          "The share of the output tokens that lines permit which `admit: fit` expects them to use. What a line holds while it runs is for all of them.",
      }),
      limits: Type.Object(
        {
          lines: Type.Integer({
            minimum: 1,
            maximum: 1_000_000,
            default: 100_000,
            description: "Most lines of a batch. OpenAI's interface permits 50,000 of them.",
          }),
          bytes: size("200MB", "Largest file that is the input of a batch."),
          perKey: Type.Integer({
            minimum: 1,
            maximum: 10_000,
            default: 20,
            description: "Most batches of a key that have not ended.",
          }),
          queuedTokens: Type.String({
            pattern: "^[1-9][0-9]{0,8}[kM]?$",
            default: "50M",
            description:
              "Most tokens of the lines of a key that wait: `50M` for 50 million. A token is expected for four bytes of an input. A batch above it is refused.",
          }),
        },
        { ...CLOSED, default: {}, description: "How much clients may have wait." },
      ),
    },
    { ...CLOSED, default: {}, description: "Batches of clients, which weir runs line by line." },
  ),
  {
    after: ["limits"],
    faults: webhookFaults,
    agrees: ({ window: text }): readonly Fault[] =>
      timeMs(text) <= LONGEST_MS ? [] : [{ path: ["batches", "window"], clause: "must be at most 30d" }],
  },
);

/** @param text such as `500k`, `50M` */
export function tokensOf(text: string): number {
  return Number.parseInt(text, 10) * ({ k: 1_000, M: 1_000_000 }[text.at(-1)!] ?? 1);
}

function webhookFaults(written: unknown): readonly Fault[] {
  const { webhook = {} } = written as { webhook?: { url?: string; secret?: string } };
  const { url, secret: key } = webhook;
  if (url === undefined && key === undefined) return [];
  const clause = webhookFault(url ?? "");
  return [
    ...faultAt(["batches", "webhook", "url"], clause && `url ${clause}`),
    ...faultAt(["batches", "webhook", "secret"], key ? undefined : "secret is missing"),
  ];
}

/** Who learns of the end of batches. Plain JSON: workers send it to the keeper. */
export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

/** The receiver of a config. Its secret is revealed: the link to the keeper is private, and the keeper does not store it. */
export function webhookOf(config: object): Webhook | undefined {
  const { on, webhook } = batchesSection.of(config);
  const { url, secret: key } = webhook;
  return on && url && key ? { url: url.reveal(), secret: key.reveal() } : undefined;
}

/** @param text such as `90m`, `24h`, `2d` */
export function timeMs(text: string): number {
  return Number.parseInt(text, 10) * UNITS[text.at(-1)!]!;
}
