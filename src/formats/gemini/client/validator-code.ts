/** The macro with the validator of requests: the bundler calls it and puts its result into the binary. */
import { validatorCode } from "../../shared/validator.ts";
import { GeminiRequest } from "../schema.ts";

/** The body of a function that returns the validator, as JavaScript. */
export function requestValidatorCode(): string {
  return validatorCode(GeminiRequest);
}
