/** The settings of a session on which the cost of its answers depends. They follow what both sides say of the session. */
import { isObject, type Json, type JsonObject } from "../../../core/json.ts";
import { mostTokens } from "../../../core/tokens/most-tokens.ts";
import { at, textAt } from "../../../kinds/realtime/events.ts";

/** Base64 characters for one token: OpenAI counts ten tokens a second of a user's audio. */
const PCM_CHARACTERS = 6_400;
const G711_CHARACTERS = 1_066;

export class SessionSettings {
  /** Most output tokens of an answer; undefined: the limit of the model. */
  maxOutput: number | undefined;
  /** The provider answers by itself when the user has spoken. */
  answersSpeech: boolean;
  /** The model that transcribes what the user says. */
  transcription: string | undefined;
  /** Tokens of instructions and tools. */
  setup = 0;
  /** Base64 characters of the user's audio for one token. */
  charactersPerToken = PCM_CHARACTERS;
  /** Some tool is one that the provider calls. */
  hasServers = false;

  /** @param transcribes the session has no answers, only transcriptions */
  constructor(private readonly transcribes: boolean) {
    this.answersSpeech = !transcribes;
  }

  /** Takes over what an event says of the session; what it does not mention stays. */
  read(session: Json | undefined): void {
    if (!isObject(session)) return;
    this.#readLimit(session);
    this.#readSetup(session);
    const input = at(session, "audio", "input");
    this.#readDetection(given(input, "turn_detection") ?? given(session, "turn_detection"));
    const transcription = given(input, "transcription") ?? given(session, "input_audio_transcription");
    if (transcription) this.transcription = textAt(transcription.value, "model");
    const format = textAt(input, "format", "type") ?? textAt(session, "input_audio_format");
    if (format !== undefined)
      this.charactersPerToken = /pcm(?![ua])/.test(format) ? PCM_CHARACTERS : G711_CHARACTERS;
  }

  #readLimit(session: JsonObject): void {
    const limit = session["max_output_tokens"] ?? session["max_response_output_tokens"];
    if (limit !== undefined) this.maxOutput = typeof limit === "number" ? limit : undefined;
  }

  #readSetup({ instructions, tools, prompt }: JsonObject): void {
    if (instructions === undefined && tools === undefined && prompt === undefined) return;
    this.setup = mostTokens(JSON.stringify([instructions, tools, prompt]));
    if (Array.isArray(tools)) this.hasServers = tools.some((tool) => textAt(tool, "type") === "mcp");
  }

  #readDetection(detection: { readonly value: unknown } | undefined): void {
    if (!detection) return;
    const { value } = detection;
    this.answersSpeech = !this.transcribes && value !== null && at(value, "create_response") !== false;
  }
}

/** A member that may be null; undefined where it is missing. */
function given(value: unknown, name: string): { readonly value: unknown } | undefined {
  return isObject(value) && Object.hasOwn(value, name) ? { value: at(value, name) } : undefined;
}
