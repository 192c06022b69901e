/** The macros with the validators of requests: the bundler calls them and puts their results into the binary. */
import { validatorCode } from "../../shared/validator.ts";
import { OllamaGenerateRequest, OllamaRequest } from "../schema.ts";

/** The body of a function that returns the validator, as JavaScript. */
export function requestValidatorCode(): string {
  return validatorCode(OllamaRequest);
}

/** The same for requests with one prompt. */
export function generateValidatorCode(): string {
  return validatorCode(OllamaGenerateRequest);
}
