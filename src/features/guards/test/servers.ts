/** What tests of guards start, and how they ask: providers that say the prompt back, services, gateways. */
import { afterAll } from "bun:test";
import type { Json, JsonObject } from "../../../core/json.ts";
import { type RunningGateway, startGateway } from "../../../../test/helpers/gateway.ts";
import { APIS, provide, SPOKEN } from "../../../../test/helpers/guarded.ts";
import {
  type Handler,
  json,
  startUpstream,
  type Upstream,
  type UpstreamRequest,
} from "../../../../test/helpers/upstream.ts";
import { patient } from "./patient.ts";

/** A word that guards of tests find. */
export const WORD = "xyzzy-4711";

/** What ends a stream that is complete, in all formats. */
export const ENDS =
  /\[DONE\]|message_stop|response\.completed|"finish_reason":"stop"|"finishReason":"STOP"|"done":true/;

/** What a guard asks a webhook. */
export interface Asked extends JsonObject {
  readonly phase: string;
  readonly final: boolean;
  readonly texts: (JsonObject & {
    readonly index: number;
    readonly path: string;
    readonly text: string;
    readonly from?: number;
  })[];
}

export const askedOf = ({ body }: UpstreamRequest) => JSON.parse(body.toString()) as Asked;

/** The findings of a service that finds {@link WORD}. */
export const wordsIn = ({ texts }: Asked) =>
  texts.flatMap(({ index, text }) =>
    [...text.matchAll(new RegExp(WORD, "g"))].map(({ index: start }) => ({
      ...{ index, start, end: start + WORD.length, type: "WORD" },
    })),
  );

/** The servers of a file of tests, which stop behind its last test. */
export class Servers {
  readonly #open: { stop(): unknown }[] = [];

  constructor() {
    afterAll(async () => {
      for (const one of this.#open) await one.stop();
    });
  }

  /** @returns the server, which stops with the others */
  opened<One extends { stop(): unknown }>(one: One): One {
    this.#open.push(one);
    return one;
  }

  upstream(answer: Handler): Upstream {
    return this.opened(startUpstream(answer));
  }

  /** A service that a guard asks. */
  service(
    answer: (asked: Asked, request: UpstreamRequest) => Json | Promise<Json>,
  ): Upstream & { asked(): Asked[] } {
    const upstream = this.upstream(async (request) => json(await answer(askedOf(request), request)));
    return Object.assign(upstream, { asked: () => upstream.requests.map(askedOf) });
  }

  /** Providers that say the prompt back: `p-FORMAT` for each format. */
  speaking(models: readonly string[]): { upstreams: Upstream[]; providers: JsonObject } {
    const speaking = Object.entries(SPOKEN).map(([format, client]) => ({
      format,
      upstream: this.upstream((request) => provide(client, request)),
    }));
    const providers = speaking.map(({ format, upstream: { url } }) => {
      const baseUrl = format === "messages" ? url : `${url}/v1`;
      return [`p-${format}`, { speaks: format, baseUrl, apiKey: "k-1234567", models: [...models] }];
    });
    return {
      upstreams: speaking.map(({ upstream }) => upstream),
      providers: Object.fromEntries(providers) as JsonObject,
    };
  }

  /** A gateway with guards that have time. @param more of the config */
  async gateway(
    guards: JsonObject,
    more: JsonObject = {},
    env: Record<string, string> = {},
  ): Promise<RunningGateway> {
    const config = { guards: patient(guards), log: { format: "json" }, ...more };
    return this.opened(await startGateway({ config, env }));
  }
}

/** The config of a provider of chat completions with the model `m`. */
export const chatProvider = ({ url }: Upstream): JsonObject => ({
  ...{ speaks: "chat-completions", baseUrl: `${url}/v1`, apiKey: "k-1234567", models: ["m"] },
});

export function post(url: string, body: JsonObject, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

/** Asks for an answer of a model that says a text, in a format of clients, without tools. */
export function ask(
  { url }: RunningGateway,
  format: string,
  model: string,
  said: string,
  stream: boolean,
): Promise<Response> {
  const { path, body } = APIS[format]!;
  const { tools: _, ...plain } = body(model, stream, said);
  return post(url + path(model, stream), plain);
}

/** What a client gets of an answer, which may break off. */
export async function textOf(response: Response): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of response.body!) text += decoder.decode(chunk as Uint8Array, { stream: true });
  } catch {
    // The connection was closed without the end of the body.
  }
  return text;
}
