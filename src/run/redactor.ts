/** Masks the credentials of the providers that serve, in all that the gateway writes. */
import { secretFilter } from "../gateway/delivery/redact.ts";

export class Redactor {
  #filter: (text: string) => string = (text) => text;

  /** From now on the credentials of these providers are masked. */
  use(providers: Parameters<typeof secretFilter>[0]): void {
    this.#filter = secretFilter(providers);
  }

  /** The text without credentials. */
  readonly hide = (text: string): string => this.#filter(text);
}
