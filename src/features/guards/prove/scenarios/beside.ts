/** What is beside texts and answers: errors, counts, names, guards without a verdict. */
import type { JsonObject } from "../../../../core/json.ts";
import { CLIENTS } from "../clients.ts";
import { bodyOf, json, type Play } from "../provider.ts";
import { CHAT, chatAnswer, REPLACED, type Scenario, type Stage, tokensIn, user } from "./stage.ts";

/** The path of an error's echo: the format, and the body of its error. */
const ERRORS: readonly (readonly [client: string, (message: string) => JsonObject])[] = [
  [
    "chat-completions",
    (message) => ({ error: { message, type: "invalid_request_error", code: null, param: null } }),
  ],
  ["messages", (message) => ({ type: "error", error: { type: "invalid_request_error", message } })],
  [
    "responses",
    (message) => ({ error: { message, type: "invalid_request_error", code: null, param: null } }),
  ],
  ["gemini", (message) => ({ error: { code: 400, message, status: "INVALID_ARGUMENT" } })],
];

const errors: readonly Scenario[] = ERRORS.flatMap(([name, body]) =>
  ERRORS.map(([spoken, write]): Scenario => ({
    name: `an error of ${spoken} that repeats the prompt of ${name}`,
    async run(stage) {
      const value = stage.value();
      const play: Play = (request) => json(write(`unknown word ${tokensIn(bodyOf(request))[0]}`), 400);
      await stage.with(play, async () => {
        const client = CLIENTS.find((one) => one.name === name)!;
        const asked = {
          model: `p-${spoken}/email-replace`,
          stream: false,
          place: "text",
          texts: [`to ${value}`],
          mark: stage.mark,
        } as const;
        const { status, said } = await stage.ask(client.path(asked), client.body(asked));
        stage.checks.that("the client reads its own words", status === 400 && said.includes(value), said);
        stage.checks.that("the client gets no token", tokensIn(said).length === 0, said);
        stage.checks.that(
          "it is an error of the client's format",
          JSON.stringify(Object.keys(body(""))) ===
            JSON.stringify(Object.keys(JSON.parse(said) as object).filter((key) => key !== "request_id")),
          said,
        );
      });
      stage.judgeProvider(1);
    },
  })),
);

const counts: readonly Scenario[] = (
  [
    ["/v1/messages/count_tokens", "messages"],
    ["/v1/responses/input_tokens", "responses"],
    ["/v1beta/models/MODEL:countTokens", "gemini"],
  ] as const
).map(([path, name]) => ({
  name: `the count of tokens of ${name}`,
  async run(stage: Stage) {
    const count = async (text: string, model: string) => {
      const client = CLIENTS.find((one) => one.name === name)!;
      const asked = { model, stream: false, place: "text", texts: [text], mark: stage.mark } as const;
      const { stream: _, max_tokens: __, ...body } = client.body(asked);
      const { said } = await stage.ask(path.replace("MODEL", model), body);
      return /\d+/.exec(said)?.[0];
    };
    await stage.with(
      (request) => chatAnswer(tokensIn(bodyOf(request)).join()),
      async () => {
        const value = `${"long.name.".repeat(5)}${stage.value()}`;
        await stage.ask(CHAT, { model: REPLACED, messages: [user(`${stage.mark} ${value}`)] });
        const token = tokensIn(stage.bodies[0] ?? "")[0]!;
        const counted = await count(`to ${value}`, `p-${name}/email-replace`);
        const expected = await count(`to ${token}`, `p-${name}/plain`);
        stage.checks.that(
          "the replaced text is counted",
          counted === expected,
          `${counted}, not ${expected}`,
        );
      },
    );
    stage.judgeProvider(stage.bodies.length);
  },
}));

const names: readonly Scenario[] = (
  [
    [CHAT, (value: string) => ({ user: value })],
    [CHAT, (value: string) => ({ stop: [value] })],
    [
      CHAT,
      (value: string) => ({
        tools: [
          {
            type: "function",
            function: {
              name: "send",
              description: `as ${value}`,
              parameters: { type: "object", description: value },
            },
          },
        ],
      }),
    ],
  ] as const
).map(([path, more], at) => ({
  name: `a value beside the messages, ${at + 1}`,
  async run(stage: Stage) {
    const value = stage.value();
    await stage.with(
      () => chatAnswer("ok"),
      async () => {
        await stage.ask(path, {
          model: REPLACED,
          messages: [user(`${stage.mark} ${value}`)],
          ...more(value),
        });
      },
    );
    stage.judgeProvider(1);
  },
}));

const unavailable: readonly Scenario[] = [
  {
    name: "a guard without a verdict blocks",
    async run(stage) {
      await stage.with(
        () => chatAnswer("ok"),
        async () => {
          const { status, said } = await stage.ask(CHAT, {
            model: "p-chat-completions/closed",
            messages: [user(stage.mark)],
          });
          stage.checks.that("it is refused", status === 503 && said.includes("guard_unavailable"), said);
        },
      );
      stage.judgeProvider(0);
    },
  },
  {
    name: "a guard without a verdict lets pass what it may",
    async run(stage) {
      await stage.with(
        () => chatAnswer("ok"),
        async () => {
          const { status, headers, said } = await stage.ask(CHAT, {
            model: "p-chat-completions/open",
            messages: [user(stage.mark)],
          });
          stage.checks.that("it goes on", status === 200, said);
          stage.checks.that("it says so", (headers.get("x-weir-guards") ?? "").includes("unavailable"), said);
        },
      );
      stage.judgeProvider(1);
    },
  },
];

export const BESIDE: readonly Scenario[] = [...errors, ...counts, ...names, ...unavailable];
