/** A provider's error that weir passes to the client unchanged, because clients match on its wording. */
import { GatewayError } from "../../core/error.ts";

export class PassedRefusal extends GatewayError {
  /** The provider's status. */
  readonly passedStatus: number;
  /** The provider's headers that may reach the client. */
  readonly passedHeaders: Record<string, string>;
  /** The provider's body: a JSON object as text. */
  readonly body: string;

  constructor(error: GatewayError, status: number, headers: Record<string, string>, body: string) {
    super(error.kind, error.message, { ...error, cause: error.cause });
    this.passedStatus = status;
    this.passedHeaders = headers;
    this.body = body;
  }
}
