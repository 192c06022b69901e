/** Requests of clients: their limits, timeouts, and what their formats may do. */
import { section } from "../section.ts";
import { Type } from "@sinclair/typebox";
import { CLOSED, milliseconds, oneOf } from "./kinds.ts";

export const limits = section(
  "limits",
  Type.Object(
    {
      bodyBytes: Type.Integer({
        minimum: 1024,
        maximum: 1_073_741_824,
        default: 33_554_432,
        description: "Maximum size of a request body, in bytes. A larger body is answered with 413.",
      }),
      depth: Type.Integer({
        minimum: 8,
        maximum: 1000,
        default: 128,
        description:
          "Maximum nesting depth of arrays and objects in a request body. A deeper body is answered with 400.",
      }),
      bodyMs: milliseconds(
        60_000,
        "Base time to receive a request body, in milliseconds. Extended by 1 s for every `bodyRate` bytes received; then weir answers 408 and closes the connection.",
      ),
      bodyRate: Type.Integer({
        minimum: 1,
        maximum: 1_073_741_824,
        default: 65_536,
        description: "Minimum upload rate, in bytes per second, after `bodyMs`.",
      }),
      calls: Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        default: 0,
        description:
          "Maximum number of calls in flight per process. Further calls are answered with 503. 0: no limit.",
      }),
      callsPerClient: Type.Integer({
        minimum: 0,
        maximum: 1_000_000,
        default: 0,
        description:
          "Maximum number of calls in flight per process for one gateway key, or for one client address when there are no keys. Further calls are answered with 429. 0: no limit.",
      }),
    },
    { ...CLOSED, description: "Limits for requests." },
  ),
);

export const timeouts = section(
  "timeouts",
  Type.Object(
    {
      connectMs: milliseconds(
        10_000,
        "Maximum time to connect to the provider, including the TLS handshake, in milliseconds. Then the attempt fails.",
      ),
      firstByteMs: milliseconds(
        600_000,
        "Maximum time from the start of an attempt to the first byte of the provider's answer, in milliseconds. Then the attempt fails. Reasoning models are slow.",
      ),
      streamFirstByteMs: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 86_400_000,
          examples: [30_000],
          description:
            "The same for streams: maximum time to the first event of a stream (stream timeout), in milliseconds. Default: `firstByteMs`.",
        }),
      ),
      gapMs: milliseconds(
        300_000,
        "Maximum time between two chunks from the provider (idle timeout), in milliseconds. Then weir ends the stream with an error.",
      ),
      totalMs: milliseconds(
        3_600_000,
        "Maximum duration of a call with all its attempts, in milliseconds. Then weir ends it with an error.",
      ),
      heartbeatMs: milliseconds(
        8_000,
        "Interval of keep-alive messages (for example SSE comments) that weir sends to a streaming client while the provider is silent, in milliseconds.",
      ),
      holdMs: milliseconds(
        8_000,
        "How long weir delays the response headers of a stream so that an early provider error can still be returned as an HTTP status, in milliseconds.",
      ),
      readMs: milliseconds(
        60_000,
        "Maximum time a streaming client may leave data unread, in milliseconds. Then weir closes the connection.",
      ),
    },
    { ...CLOSED, description: "Timeouts towards providers and clients." },
  ),
);

export const messages = section(
  "messages",
  Type.Object(
    {
      systemTurns: oneOf(["accept", "reject"], {
        default: "accept",
        description:
          "Whether the messages format accepts `system` messages inside a conversation, which newer clients send; `reject` answers 400. A `system` message at the start of the conversation is always refused.",
      }),
    },
    { ...CLOSED, description: "The messages format." },
  ),
);

export const responses = section(
  "responses",
  Type.Object(
    {
      store: oneOf(["auto", "on", "off"], {
        default: "auto",
        description:
          "Whether weir stores answers with their prompts, so that a client can continue one by `previous_response_id`. `auto`: when a state folder is named (`state`) or `store` is a PostgreSQL database. `on`: also in the default folder `~/.local/state/weir`. `off`: nothing is written, and answers say `store: false`.",
      }),
      commitMs: milliseconds(
        1_000,
        "How long the end of an answer waits until the answer is stored, in milliseconds. Then the answer is not stored and says `store: false`.",
      ),
      keepDays: Type.Integer({
        minimum: 1,
        maximum: 3650,
        default: 30,
        description: "How long weir keeps an answer, in days.",
      }),
      answerBytes: Type.Integer({
        minimum: 1024,
        maximum: 268_435_456,
        default: 33_554_432,
        description: "Maximum size of the items of one answer, in bytes. A larger answer is not stored.",
      }),
      answerItems: Type.Integer({
        minimum: 1,
        maximum: 100_000,
        default: 1000,
        description:
          "Maximum number of input items of one request. The answer to a longer one is not stored.",
      }),
      fileBytes: Type.Integer({
        minimum: 1_048_576,
        maximum: 1_099_511_627_776,
        default: 2_147_483_648,
        description:
          "Maximum size of all stored answers, in bytes. Beyond it weir deletes the answers that expire first. In memory (`state: none`) at most 256 MB; in PostgreSQL there is no maximum.",
      }),
      foreignIds: oneOf(["auto", "refuse", "pass"], {
        default: "auto",
        description:
          "What weir does with an id of the provider that the client's key has not received: of an answer, of an item, or of any `conversation`. `refuse` answers as for an unknown id, `pass` sends it to the provider, where all gateway keys share an account. `auto`: `refuse` with gateway keys (items: with more than one key), `pass` without. Files, vector stores and containers always pass.",
      }),
    },
    { ...CLOSED, description: "The responses format, and the answers that weir stores for it." },
  ),
);

export const strict = section(
  "strict",
  Type.Boolean({
    default: false,
    description:
      "Refuse a request with 400 if a part of it cannot be translated to the provider's format. `false`: report the part in `x-weir-warnings`.",
  }),
);
