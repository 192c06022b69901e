/** The error for a wrong member of a request. */
export { fault, missing } from "../../shared/request-fault.ts";
