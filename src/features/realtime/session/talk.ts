/**
 * One session between a client and a provider. Events pass as they are; in front of what costs something, weir holds its price, and
 * what the provider counts settles it.
 */
import { GatewayError } from "../../../core/error.ts";
import { isObject, type JsonObject } from "../../../core/json.ts";
import { LedgerRefusal } from "../../../core/refusal.ts";
import { errorEvent, refusedEvent } from "../../../kinds/realtime/errors.ts";
import { at, parsed, textAt, typeOfClient, typeOfVendor } from "../../../kinds/realtime/events.ts";
import { usageOfResponse, usageOfTranscription } from "../../../kinds/realtime/usage.ts";
import { PromptSize, tokensOf } from "./prompt.ts";
import { SessionSettings } from "./settings.ts";
import { type TurnBooks, Turns } from "./turns.ts";

/** The ends of a session. */
export interface Ends {
  toClient(event: string): void;
  toVendor(event: string): void;
  /** weir ends the session. @param error why; the client has got it as an event */
  end(code: number, reason: string, error?: GatewayError): void;
}

export interface TalkOptions {
  readonly books: TurnBooks;
  readonly ends: Ends;
  /** The model as the client named it, and as the provider does. */
  readonly model: { readonly asked: string; readonly served: string };
  /** The session has no answers, only transcriptions. */
  readonly transcribes: boolean;
  /** Whether the caller may have a model work beside. */
  allowsModel(model: string): boolean;
  /** Whether the provider may call tools for the caller. */
  readonly allowsServers: boolean;
}

/** Speech that a hold has room for. Tokens. */
const SPEECH_TOKENS = 1_500;
/** Output of a transcription of as much. */
const TRANSCRIPT_TOKENS = 2_000;
const SPEECH_SECONDS = 150;

/** Closing of a session that a rule of weir ends, and of one that ends with weir. */
const POLICY = 1008;
const RESTART = 1012;

export class Talk {
  readonly turns: Turns;
  readonly #options: TalkOptions;
  readonly #settings: SessionSettings;
  readonly #prompt: PromptSize;
  /** Events of the client behind one that waits for its hold. */
  #waiting: string[] | undefined;
  #gate: Promise<void> | undefined;
  #queued = 0;
  #errors = 0;
  #heardAtSpare = 0;
  #isOver = false;

  constructor(options: TalkOptions) {
    this.#options = options;
    this.turns = new Turns(options.books);
    this.#settings = new SessionSettings(options.transcribes);
    this.#prompt = new PromptSize(this.#settings);
  }

  /** Length of the events that wait. */
  get waiting(): number {
    return this.#queued;
  }

  /** An event of the client. @returns a promise while the events wait: read no more until it resolves */
  fromClient(event: string): Promise<void> | undefined {
    if (this.#isOver) return undefined;
    if (this.#waiting) {
      this.#waiting.push(event);
      this.#queued += event.length;
      return this.#gate;
    }
    const pending = this.#take(event);
    if (!pending) return undefined;
    this.#waiting = [];
    return (this.#gate = this.#continue(pending));
  }

  async #continue(pending: Promise<void>): Promise<void> {
    await pending;
    for (let next = this.#waiting!.shift(); next !== undefined; next = this.#waiting!.shift()) {
      this.#queued -= next.length;
      if (!this.#isOver) await this.#take(next);
    }
    this.#waiting = undefined;
    this.#gate = undefined;
  }

  /** Passes an event on, at once or when what it costs is held. */
  #take(event: string): Promise<void> | undefined {
    switch (typeOfClient(event)) {
      case "input_audio_buffer.append":
        return this.#hear(event);
      case "response.create":
        return this.#ask(event, parsed(event) ?? {});
      case "session.update":
      case "transcription_session.update":
        return this.#update(event, parsed(event) ?? {});
      case "conversation.item.create":
        this.#prompt.add(parsed(event)?.["item"]);
        break;
    }
    this.#options.ends.toVendor(event);
    return undefined;
  }

  #hear(event: string): Promise<void> | undefined {
    this.#prompt.hear(event.length);
    const { answersSpeech, transcription } = this.#settings;
    if (this.turns.hasSpare && this.#prompt.heard - this.#heardAtSpare > SPEECH_TOKENS)
      this.turns.dropSpare();
    const needsSpare = answersSpeech && !this.turns.hasSpare;
    const needsTranscript = transcription !== undefined && !this.turns.hasTranscript;
    if (needsSpare || needsTranscript) return this.#holdSpeech(event, needsSpare, needsTranscript);
    this.#options.ends.toVendor(event);
    return undefined;
  }

  async #holdSpeech(event: string, answer: boolean, transcript: boolean): Promise<void> {
    const { maxOutput, transcription, hasServers } = this.#settings;
    try {
      if (answer) {
        this.#heardAtSpare = this.#prompt.heard;
        const input = this.#prompt.tokens + SPEECH_TOKENS;
        await this.turns.spare({ input, ...outputOf(maxOutput), hasServerTools: hasServers });
      }
      if (transcript)
        await this.turns.transcript({
          ...{ input: SPEECH_TOKENS, output: TRANSCRIPT_TOKENS, units: { second: SPEECH_SECONDS } },
          ...(transcription !== undefined && { model: transcription }),
        });
    } catch (thrown) {
      // What the user says cannot be asked again: without a hold the session makes no sense.
      return this.refuse(GatewayError.from(thrown));
    }
    if (!this.#isOver) this.#options.ends.toVendor(event);
  }

  async #ask(event: string, body: JsonObject): Promise<void> {
    const id = textAt(body, "event_id");
    const response = isObject(body["response"]) ? body["response"] : {};
    const limit = response["max_output_tokens"] ?? response["max_response_output_tokens"];
    const { charactersPerToken, hasServers, maxOutput } = this.#settings;
    const servers = Array.isArray(response["tools"]) ? hasServerIn(response["tools"]) : hasServers;
    const own = { instructions: response["instructions"] ?? null, tools: response["tools"] ?? null };
    const input =
      this.#prompt.tokens +
      tokensOf(response["input"], charactersPerToken) +
      tokensOf(own, charactersPerToken);
    const output = outputOf(limit === undefined ? maxOutput : typeof limit === "number" ? limit : undefined);
    try {
      this.#assertServers(servers);
      await this.turns.ask(
        { input, ...output, hasServerTools: servers },
        id,
        response["conversation"] !== "none",
      );
    } catch (thrown) {
      const error = GatewayError.from(thrown);
      return isFinal(error) ? this.refuse(error, id) : this.#tell(error, id);
    }
    if (!this.#isOver) this.#options.ends.toVendor(event);
  }

  #update(event: string, body: JsonObject): undefined {
    const session = isObject(body["session"]) ? body["session"] : {};
    try {
      const named = this.#renamed(body, session);
      this.#assertServers(hasServerIn(session["tools"]));
      this.#assertTranscription(session);
      this.#settings.read(session);
      this.#options.ends.toVendor(named ?? event);
    } catch (thrown) {
      this.#tell(GatewayError.from(thrown), textAt(body, "event_id"));
    }
    return undefined;
  }

  /** The event with the provider's name of the model, where that is another one. @throws GatewayError for another model */
  #renamed(body: JsonObject, session: JsonObject): string | undefined {
    const { asked, served } = this.#options.model;
    const { model } = session;
    if (model === undefined || model === served) return undefined;
    if (model === asked) return JSON.stringify({ ...body, session: { ...session, model: served } });
    const shown = typeof model === "string" ? model.slice(0, 100) : "another one";
    throw refusedEvent(
      `The session has the model \`${asked}\`, and cannot change to \`${shown}\`: open another session.`,
      "model_not_changeable",
      "session.model",
    );
  }

  #assertServers(hasServers: boolean): void {
    if (!hasServers || this.#options.allowsServers) return;
    throw new GatewayError("permission", "The key may not use tools that the provider runs, such as `mcp`.", {
      code: "server_tools_not_allowed",
      param: "session.tools",
    });
  }

  #assertTranscription(session: JsonObject): void {
    const model =
      textAt(session, "audio", "input", "transcription", "model") ??
      textAt(session, "input_audio_transcription", "model");
    if (model === undefined || this.#options.allowsModel(model)) return;
    throw new GatewayError("permission", `The key may not use the model \`${model.slice(0, 100)}\`.`, {
      code: "model_not_allowed",
      param: "session.audio.input.transcription.model",
    });
  }

  /** An event of the provider: it passes, and weir books the costs in it. */
  fromVendor(event: string): void {
    // An answer that weir has refused may still end: its counts are booked, and the client is gone.
    if (!this.#isOver) this.#options.ends.toClient(event);
    switch (typeOfVendor(event)) {
      case "response.created":
        return this.turns.began(textAt(parsed(event), "response", "id") ?? "");
      case "response.done":
        return this.#done(at(parsed(event), "response"));
      case "conversation.item.input_audio_transcription.completed":
        return this.#transcribed(parsed(event));
      case "session.created":
      case "session.updated":
      case "transcription_session.created":
      case "transcription_session.updated":
        return this.#settings.read(parsed(event)?.["session"]);
      case "error":
        return this.#failed(at(parsed(event), "error"));
    }
  }

  #done(response: unknown): void {
    if (!isObject(response)) return;
    const body = response as JsonObject;
    const usage = usageOfResponse(body["usage"]);
    const failure = body["status"] === "failed" ? failureOf(at(body, "status_details", "error")) : undefined;
    const isInConversation = this.turns.done(textAt(body, "id") ?? "", usage, failure);
    if (usage && isInConversation)
      this.#prompt.count(usage.input + usage.cacheRead + usage.cacheWrite, usage.output);
  }

  #transcribed(event: JsonObject | undefined): void {
    this.turns.transcribed(usageOfTranscription(event?.["usage"]), this.#settings.transcription);
  }

  #failed(error: unknown): void {
    this.turns.refused(textAt(error, "event_id"), failureOf(error));
  }

  /** Tells the client of an error; the session goes on. */
  #tell(error: GatewayError, cause?: string): void {
    this.#options.ends.toClient(errorEvent(error, `event_weir_${++this.#errors}`, cause));
  }

  /** A rule of weir ends the session: the client learns why, and what runs is cancelled. */
  refuse(error: GatewayError, cause?: string): void {
    if (this.#isOver) return;
    this.#tell(error, cause);
    this.#isOver = true;
    this.#options.ends.end(
      codeOf(error),
      error.kind === "quota" ? "budget_exceeded" : (error.code ?? error.kind),
      error,
    );
  }

  /** The client has left. */
  left(): void {
    this.#isOver = true;
  }

  /** Cancels what runs. @returns whether something runs, so that counts may still come */
  cancel(): boolean {
    for (const id of this.turns.runningIds)
      this.#options.ends.toVendor(JSON.stringify({ type: "response.cancel", response_id: id }));
    return this.turns.running > 0;
  }
}

function outputOf(limit: number | undefined): { output?: number } {
  return limit === undefined ? {} : { output: limit };
}

function hasServerIn(tools: unknown): boolean {
  return Array.isArray(tools) && tools.some((tool) => textAt(tool, "type") === "mcp");
}

/** A client opens another session at once where weir only restarts. */
function codeOf({ kind }: GatewayError): number {
  return kind === "overloaded" ? RESTART : POLICY;
}

/** No later answer would be admitted either. */
function isFinal(error: GatewayError): boolean {
  return error instanceof LedgerRefusal
    ? error.reason === "budget" || error.reason === "price"
    : error.kind === "authentication";
}

function failureOf(error: unknown): GatewayError {
  const code = textAt(error, "code") ?? textAt(error, "type") ?? "upstream_error";
  return new GatewayError("upstream", "The provider did not answer.", {
    code,
    said: { code, ...(textAt(error, "message") !== undefined && { message: textAt(error, "message")! }) },
  });
}
