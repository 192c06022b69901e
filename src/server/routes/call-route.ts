/** A route whose requests are calls: they need a key, occupy a place among the calls in flight, and are logged. */
import { Call, type CallRoute } from "../../core/call.ts";
import type { ClientCodec, Format } from "../../core/format.ts";
import type { Principal } from "../../core/principal.ts";
import { Deadline } from "../../gateway/delivery/deadline.ts";
import { deliver } from "../../gateway/delivery/deliver.ts";
import { toClientError } from "../../gateway/delivery/redact.ts";
import { clientLeft } from "../../gateway/delivery/stream.ts";
import type { Opened, OpenedReceiver } from "../../gateway/lanes/lane.ts";
import type { Arrival, Life } from "../../gateway/seams.ts";
import type { Gateway } from "../../gateway/types.ts";
import type { Admission } from "../admission.ts";
import type { Authenticate } from "../authenticate.ts";
import { assertScope } from "../key-scope.ts";
import type { BodyLimits } from "../read-body.ts";
import { createRequestId, openError, respond } from "../respond.ts";

export interface RouteContext {
  gateway: Gateway;
  limits: BodyLimits;
  authenticate: Authenticate;
  admission: Admission;
  /** The seams of features and plugins for the config that serves. */
  life: Life;
  /** The client's address. */
  address(request: Request): string;
  /** Turns the idle timeout of a running request's connection off or on. */
  allowSilence(request: Request, allowed: boolean): void;
  /** Closes the connection of a running request within seconds, without a regular end of its answer. */
  disconnect(request: Request): void;
}

/** Finds the answer to one call, and tells it to the receiver. @throws GatewayError before it has told anything */
export type Serve = (call: Call, request: Request, deadline: Deadline, receiver: OpenedReceiver) => void;

interface Served {
  format: Format & { client: ClientCodec };
  context: RouteContext;
  serve: Serve;
  route: CallRoute;
  /** Its name in the scope `endpoints` of keys. */
  endpoint: string;
}

/** It checks the key and the limits before `serve` reads a byte of the body. @param endpoint default: id of the format */
export function callRoute(
  format: Served["format"],
  context: RouteContext,
  serve: Serve,
  route: CallRoute,
  endpoint = format.id,
) {
  const served: Served = { format, context, serve, route, endpoint };
  return (request: Request): Promise<Response> =>
    new Promise((resolve, reject) => new Serving(request, served, resolve, reject).begin());
}

/** A client's request, until its response begins. */
class Serving implements OpenedReceiver {
  readonly #request: Request;
  readonly #served: Served;
  readonly #call: Call;
  readonly #deadline: Deadline;
  readonly #resolve: (response: Response) => void;
  readonly #reject: (thrown: unknown) => void;
  /** Who occupies a place. */
  #client: string | undefined;

  constructor(
    request: Request,
    served: Served,
    resolve: (response: Response) => void,
    reject: (thrown: unknown) => void,
  ) {
    const { format, context, route } = served;
    const { gateway, allowSilence } = context;
    const call = new Call(createRequestId(), format.id, request.headers);
    const deadline = new Deadline(call, gateway.clock, gateway.timeouts);
    call.route = route;
    call.disconnect = () => context.disconnect(request);
    deadline.onLong = () => allowSilence(request, true);
    call.release = () => {
      deadline.stop();
      if (deadline.isLong) allowSilence(request, false);
      this.#leave();
    };
    request.signal.addEventListener("abort", this);
    this.#request = request;
    this.#served = served;
    this.#call = call;
    this.#deadline = deadline;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { context, format } = this.#served;
    try {
      const found = context.authenticate(this.#request, format.client.routes);
      if (!(found instanceof Promise)) return this.#admit(found);
      found.then((principal) => this.#admit(principal)).catch((thrown: unknown) => this.failed(thrown));
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  #admit(principal: Principal | undefined): void {
    const { context, endpoint, serve } = this.#served;
    const { admission } = context;
    const call = this.#call;
    if (principal) {
      call.principal = principal;
      assertScope(principal, endpoint, () => context.address(this.#request));
    }
    if (admission.isLimited)
      this.#client = admission.enter(call.principal?.id ?? context.address(this.#request));
    serve(call, this.#request, this.#deadline, this);
  }

  opened(opened: Opened): void {
    try {
      this.#resolve(this.#respond(opened));
    } catch (thrown) {
      this.failed(thrown);
    }
  }

  failed(thrown: unknown): void {
    const { context, format } = this.#served;
    const call = this.#call;
    try {
      const error = toClientError(call.abortReason ?? thrown, call);
      const refusal = openError(error, format.client, call.id);
      context.life.refused?.(arrivalOf(this.#request, call, format.client, context), refusal.status);
      this.#resolve(this.#respond(refusal));
    } catch (fault) {
      this.#reject(fault);
    }
  }

  #respond(opened: Opened): Response {
    const { format, context } = this.#served;
    return respond(deliver(opened, this.#call, format.client, context.gateway), this.#call.id);
  }

  /** The client's connection is closed. */
  handleEvent(): void {
    const call = this.#call;
    if (call.leave()) this.#leave();
    else if (!call.outcome) call.abort(clientLeft());
  }

  #leave(): void {
    if (this.#client !== undefined) this.#served.context.admission.leave(this.#client);
    this.#client = undefined;
  }
}

/** The client's request, for what runs at calls. */
export function arrivalOf(
  http: Request,
  call: Call,
  client: ClientCodec,
  context: Pick<RouteContext, "address">,
): Arrival {
  return { call, http, client, address: () => context.address(http) };
}
