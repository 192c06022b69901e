/** An upstream's refusal that may go to the client as it is: clients match on its wording. */
import { GatewayError } from "../../core/error.ts";

export class PassedRefusal extends GatewayError {
  /** The upstream's own status. */
  readonly passedStatus: number;
  /** Those of its headers that may reach the client. */
  readonly passedHeaders: Record<string, string>;
  /** A JSON object as text. */
  readonly body: string;

  constructor(error: GatewayError, status: number, headers: Record<string, string>, body: string) {
    super(error.kind, error.message, { ...error, cause: error.cause });
    this.passedStatus = status;
    this.passedHeaders = headers;
    this.body = body;
  }
}
