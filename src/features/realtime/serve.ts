/** Opens sessions for clients, and makes the secrets by which browsers open them. */
import { GatewayError } from "../../core/error.ts";
import { readProtocols } from "../../kinds/realtime/protocols.ts";
import { inspectsCaller } from "../../core/inspected.ts";
import { parsed } from "../../kinds/realtime/events.ts";
import type { Channel } from "../../core/channel.ts";
import type { Principal } from "../../core/principal.ts";
import type { End } from "../../core/socket.ts";
import type { Visit, WorkerHost } from "../../gateway/seams.ts";
import { assertNoCredential, ENDPOINT, presentedIn, readQuery, unmetered } from "./routes.ts";
import type { Grant, SecretDown, SecretUp } from "./secrets/messages.ts";
import { isSecret, readSecretRequest, Secrets } from "./secrets/secrets.ts";
import type { RealtimeConfig } from "./section.ts";
import { dial } from "./session/dial.ts";
import { openTalk } from "./session/open.ts";

/** Longest body of a request for a secret. Bytes. */
const MOST_BODY = 262_144;

/** Who opens a session, and with what. */
interface Caller {
  readonly principal: Principal | undefined;
  /** Of a client secret. */
  readonly grant?: Grant;
}

export class Sessions {
  /** Open sessions by the id of their caller; empty for calls without a key. */
  readonly #open = new Map<string, number>();
  #idle = Promise.withResolvers<void>();

  readonly #secrets: Secrets;

  constructor(
    private readonly host: WorkerHost,
    keeper: Channel<SecretUp, SecretDown>,
  ) {
    this.#secrets = new Secrets(keeper);
  }

  /** @throws GatewayError before the connection is upgraded, so that the client gets a status */
  async open(request: Request, visit: Visit, path: string, config: RealtimeConfig): Promise<Response> {
    const url = new URL(request.url);
    assertNoCredential(url);
    const { protocol, credential } = readProtocols(request.headers);
    const asking = this.#callerOf(request, visit, credential, url.searchParams.get("model"));
    const { principal, grant } = await asking;
    const query = readQuery(url);
    const named = "model" in query ? query.model : undefined;
    if (!config.unguarded && inspectsCaller.get(this.host.offers)?.(principal)) throw uninspected();
    const model = grant?.model ?? named ?? config.transcription;
    if (model === undefined) throw noTranscription();
    const release = this.#enter(principal, config.perKey);
    try {
      const talk = await openTalk(
        this.host,
        {
          ...{ principal, model, path, headers: withoutKey(request.headers), mostMs: config.sessionMs },
          transcribes: grant?.transcribes ?? !("model" in query),
          settings: grant?.session,
        },
        dial,
        release,
      );
      try {
        return visit.upgrade(protocol, (end: End) => {
          talk.connect(end);
          return talk.client;
        });
      } catch (thrown) {
        talk.abandon();
        throw thrown;
      }
    } catch (thrown) {
      release();
      throw thrown;
    }
  }

  /** @throws GatewayError with the reason */
  async refuse(visit: Visit): Promise<never> {
    await visit.caller(ENDPOINT);
    throw unmetered();
  }

  /** A secret for one session of who asks. */
  async issue(visit: Visit): Promise<Response> {
    const principal = await visit.caller(ENDPOINT);
    if (principal && !principal.key)
      throw new GatewayError("permission", "Only a key can have client secrets.", { code: "key_required" });
    const asked = readSecretRequest(parsed(new TextDecoder().decode(await visit.body(MOST_BODY))));
    const [value, expires_at] = await this.#secrets.issue(asked, principal?.key?.id ?? null);
    const { model, transcribes, session } = asked;
    const object = transcribes ? "realtime.transcription_session" : "realtime.session";
    const id = `sess_${crypto.randomUUID().replaceAll("-", "")}`;
    const type = transcribes ? "transcription" : "realtime";
    const told = { type, object, id, ...(!transcribes && { model }), ...session };
    return Response.json({ value, expires_at, session: told });
  }

  /** Waits until the sessions are over; what drains them ends them. */
  async drain(): Promise<void> {
    if (this.#open.size > 0) await this.#idle.promise;
  }

  async #callerOf(
    { headers }: Request,
    visit: Visit,
    credential: string | undefined,
    model: string | null,
  ): Promise<Caller> {
    const secret = [credential, presentedIn(headers)].find((one) => one !== undefined && isSecret(one));
    if (secret === undefined) {
      const asking =
        credential === undefined ? visit.caller(ENDPOINT) : visit.callerWith(credential, ENDPOINT);
      return { principal: await asking };
    }
    const grant = await this.#secrets.redeem(secret, model);
    const principal = grant.key === null ? undefined : this.host.callerOfKey(grant.key);
    if (!principal && !(grant.key === null && this.host.isOpen()))
      throw new GatewayError("authentication", "The key of the client secret admits no calls any more.", {
        code: "invalid_client_secret",
      });
    if (principal?.options.isBoundToAddresses && !principal.options.allowsAddress(visit.address))
      throw new GatewayError(
        "permission",
        "The key of the client secret may not be used from this address.",
        {
          code: "address_not_allowed",
        },
      );
    return { principal, grant };
  }

  /** @returns ends it; further calls do nothing @throws GatewayError beyond the limit */
  #enter(principal: Principal | undefined, most: number): () => void {
    const id = principal?.id ?? "";
    const count = this.#open.get(id) ?? 0;
    if (count >= most)
      throw new GatewayError("rate-limited", `The caller has ${most} sessions open, which is the most.`, {
        code: "too_many_sessions",
      });
    if (this.#open.size === 0) this.#idle = Promise.withResolvers();
    this.#open.set(id, count + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = this.#open.get(id)! - 1;
      if (left > 0) this.#open.set(id, left);
      else this.#open.delete(id);
      if (this.#open.size === 0) this.#idle.resolve();
    };
  }
}

/** The record of a call has headers of its client: the subprotocol may be a key. */
function withoutKey(headers: Headers): Headers {
  const kept = new Headers(headers);
  kept.delete("sec-websocket-protocol");
  return kept;
}

function uninspected(): GatewayError {
  return new GatewayError(
    "permission",
    "Guards inspect the requests of this caller, and cannot inspect a session; the operator may permit sessions by realtime.unguarded.",
    { code: "realtime_uninspected" },
  );
}

function noTranscription(): GatewayError {
  return new GatewayError(
    "invalid-request",
    "This gateway has no model for sessions that transcribe: the operator names one in realtime.transcription.",
    { param: "intent" },
  );
}
