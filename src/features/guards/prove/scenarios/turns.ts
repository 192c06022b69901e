/** Several requests that belong together. */
import type { JsonObject } from "../../../../core/json.ts";
import { valuesAt } from "../clients.ts";
import { bodyOf, json, type Play } from "../provider.ts";
import { CHAT, chatAnswer, messagesAnswer, REPLACED, type Scenario, tokensIn, user } from "./stage.ts";

const fallback: Scenario = {
  name: "a guard of a fallback alone",
  async run(stage) {
    const play: Play = ({ url }) =>
      url.includes("messages")
        ? messagesAnswer({ type: "text", text: "ok" })
        : json({ error: { message: "down" } }, 500);
    await stage.with(play, async () => {
      const messages = [user(`${stage.mark} ${stage.value()}`)];
      const { status, said } = await stage.ask(CHAT, { model: "p-chat-completions/fails", messages });
      stage.checks.that("the fallback answers", status === 200, said);
    });
    stage.checks.that("the fallback is asked", stage.bodies.length >= 2, String(stage.bodies.length));
    stage.judgeProvider(stage.bodies.length);
  },
};

const stored: Scenario = {
  name: "a stored answer, and the request that continues it",
  async run(stage) {
    const [one, other] = [stage.value(0), stage.value(1)];
    await stage.with(
      (request) => chatAnswer(tokensIn(bodyOf(request)).toReversed().join(" ")),
      async () => {
        const model = REPLACED;
        const ask = (input: string, more: JsonObject = {}) =>
          stage.ask("/v1/responses", { model, input, store: true, ...more });
        const first = JSON.parse((await ask(`${stage.mark} to ${one}`)).said) as { id: string };
        const kept = await stage.ask(`/v1/responses/${first.id}`);
        stage.checks.that("the stored answer has its value", kept.said.includes(one), kept.said);
        const next = await ask(`and ${other}`, { previous_response_id: first.id });
        stage.checks.that(
          "the next answer has both",
          [one, other].every((value) => next.said.includes(value)),
          next.said,
        );
        stage.checks.that("no token is left", tokensIn(kept.said + next.said).length === 0, next.said);
      },
    );
    stage.judgeProvider(2);
  },
};

const masked: Scenario = {
  name: "a stored answer with a value that the model wrote",
  async run(stage) {
    const value = "written.by.a.model@example.com";
    await stage.with(
      () => chatAnswer(`to ${value}`),
      async () => {
        const asking = { model: "p-chat-completions/email-mask", input: stage.mark, store: true };
        const { said } = await stage.ask("/v1/responses", asking);
        const { id } = JSON.parse(said) as { id: string };
        const kept = await stage.ask(`/v1/responses/${id}`);
        for (const text of [said, kept.said])
          stage.checks.that("it is masked", text.includes("to [EMAIL]") && !text.includes(value), text);
      },
    );
  },
};

const turns: Scenario = {
  name: "ten turns with the same beginning",
  async run(stage) {
    await stage.with(
      () => chatAnswer("ok"),
      async () => {
        const messages: JsonObject[] = [];
        for (let turn = 0; turn < 10; turn++) {
          messages.push(
            user(
              turn === 0 ? `${stage.mark} ${stage.value()}` : `${stage.value(turn)} and ${stage.value(0)}`,
            ),
          );
          await stage.ask(CHAT, { model: REPLACED, messages });
          messages.push({ role: "assistant", content: "ok" });
        }
      },
    );
    for (const [at, body] of stage.bodies.slice(1).entries()) {
      const before = stage.bodies[at]!.replace(/\]\}$/, "");
      stage.checks.that("a turn begins as the one before", body.startsWith(before), body);
    }
    stage.judgeProvider(10);
  },
};

const cached: Scenario = {
  name: "an answer from the cache",
  async run(stage) {
    await stage.with(
      (request) => chatAnswer(`to ${tokensIn(bodyOf(request))[0]}`),
      async () => {
        for (const at of [0, 0, 1]) {
          const messages = [user(`${stage.mark} write to ${stage.value(at)}`)];
          const asking = { model: REPLACED, temperature: 0, messages };
          const { said } = await stage.ask(CHAT, asking, { "x-weir-cache": "use" });
          stage.checks.that("each caller reads its own value", said.includes(`to ${stage.value(at)}`), said);
        }
      },
    );
    stage.judgeProvider(2);
  },
};

const signedReasoning = (thinking: string) => ({ type: "thinking", thinking, signature: "c2lnbmVk" });
/** A request for reasoning, without its messages. */
const REASONING = {
  model: "p-messages/email-replace",
  max_tokens: 2_000,
  thinking: { type: "enabled", budget_tokens: 1_024 },
};

const signed: Scenario = {
  name: "reasoning with a signature",
  async run(stage) {
    const value = stage.value();
    const thinking = signedReasoning("I write to someone.");
    const play: Play = (request) => {
      const token = tokensIn(bodyOf(request))[0] ?? "";
      return messagesAnswer(
        { ...thinking, thinking: `It is ${token}.` },
        { type: "text", text: `I thought. ${token}` },
      );
    };
    await stage.with(play, async () => {
      const messages = [
        user(stage.mark),
        { role: "assistant", content: [thinking, { type: "text", text: "Yes." }] },
        user(`to ${value}`),
      ];
      const { said } = await stage.ask("/v1/messages", { ...REASONING, messages });
      const token = tokensIn(stage.bodies[0] ?? "")[0]!;
      const blocks = valuesAt(JSON.parse(said) as JsonObject, "content.*");
      stage.checks.that(
        "signed reasoning stays as it is",
        JSON.stringify(blocks[0]).includes(`It is ${token}.`),
        said,
      );
      stage.checks.that("the text has the value", JSON.stringify(blocks[1]).includes(value), said);
    });
    stage.checks.that(
      "reasoning is sent as it came",
      (stage.bodies[0] ?? "").includes(JSON.stringify(thinking)),
      stage.bodies[0] ?? "",
    );
    stage.judgeProvider(1);
  },
};

const strangers: Scenario = {
  name: "a token of another call",
  async run(stage) {
    await stage.with(
      (request) => chatAnswer(tokensIn(bodyOf(request)).join(" ")),
      async () => {
        const ask = (content: string) =>
          stage.ask(CHAT, { model: REPLACED, messages: [user(`${stage.mark} ${content}`)] });
        await ask(stage.value(0));
        const token = tokensIn(stage.bodies[0] ?? "")[0]!;
        const { said } = await ask(`${token} and ${stage.value(1)}`);
        const isRight = said.includes(`${token} ${stage.value(1)}`) && !said.includes(stage.value(0));
        stage.checks.that("it stays a token", isRight, said);
      },
    );
    stage.judgeProvider(2);
  },
};

const unchanged: Scenario = {
  name: "signed reasoning with a value that is found elsewhere",
  async run(stage) {
    // It stays in what is kept of the call.
    const value = "signed.words@example.com";
    const thinking = signedReasoning(`I write to ${value}.`);
    const play: Play = () => messagesAnswer({ type: "text", text: "ok" });
    await stage.with(play, async () => {
      const said = { role: "assistant", content: [thinking, { type: "text", text: "Yes." }] };
      const messages = [user(`${stage.mark} to ${value}`), said, user("go on")];
      await stage.ask("/v1/messages", { ...REASONING, messages });
    });
    const body = stage.bodies[0] ?? "";
    stage.checks.that("its signature holds", body.includes(JSON.stringify(thinking)), body);
    stage.checks.that("the text has a token", tokensIn(body).length === 1, body);
  },
};

export const TURNS: readonly Scenario[] = [
  unchanged,
  strangers,
  masked,
  fallback,
  stored,
  turns,
  cached,
  signed,
];
