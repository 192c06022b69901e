/** The states of a list or a page, with their words: the first line is bold, then what one can do. */
import type { ComponentChildren } from "preact";
import type { ApiError } from "../data/api.ts";
import type { Reading } from "../data/use-api.ts";
import { Button, copy } from "./controls.tsx";

/** Nothing to show, or a failure, in place of the rows. */
export function Blank(props: {
  title: string;
  children?: ComponentChildren;
  acts?: ComponentChildren;
  alert?: boolean;
}) {
  return (
    <div class="empty" {...(props.alert && { role: "alert" })}>
      <b>{props.title}</b>
      {props.children !== undefined && <span>{props.children}</span>}
      {props.acts !== undefined && <div class="acts">{props.acts}</div>}
    </div>
  );
}

/** In place of rows that are read. */
export function Bones({ rows = 6 }: { rows?: number }) {
  return (
    <div class="bones" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, at) => (
        <svg class="bone" key={at} height="32" width="100%" aria-hidden="true">
          <rect x="12" y="11" width="96" height="10" rx="2" />
          <rect x="128" y="11" width={`${18 + ((at * 7) % 16)}%`} height="10" rx="2" />
          <rect x="78%" y="11" width="14%" height="10" rx="2" />
        </svg>
      ))}
    </div>
  );
}

/** @param props.what what could not be read: `Calls` */
export function Failed(props: { what: string; error: ApiError; again: () => void }) {
  const { what, error, again } = props;
  if (error.status === 403)
    return (
      <Blank title="This key may not see this." alert>
        {error.message}
      </Blank>
    );
  // The request itself is wrong: the same one would fail again.
  if (error.status === 400 || error.status === 404)
    return (
      <Blank title={error.message} alert>
        {what} cannot be read in this way.
      </Blank>
    );
  const details = `${what}: ${error.status} ${error.code}: ${error.message}`;
  return (
    <Blank
      alert
      title={`${what} could not be read.`}
      acts={
        <>
          <Button onClick={again}>Try again</Button>
          <Button kind="quiet" onClick={() => void copy(details, "Details")}>
            Copy details
          </Button>
        </>
      }
    >
      {error.message} {aboutCalls(error)}
    </Blank>
  );
}

/** The meaning of a failure of the console for the calls. The console does not reach the gateway itself. */
function aboutCalls({ status }: ApiError): string {
  return status === 0
    ? "Run weir health to see whether calls go on."
    : "Calls do not need the part that failed.";
}

/**
 * An answer in its states: bones while nothing is there, a failure if nothing came, otherwise the children. What is there
 * stays while it is read again, and after a failure.
 * @param props.what `Calls`
 */
export function Loaded<Answer>(props: {
  of: Reading<Answer>;
  what: string;
  rows?: number;
  children: (data: Answer) => ComponentChildren;
}) {
  const { of: reading, what, rows } = props;
  if (reading.data !== undefined)
    return (
      <>
        {reading.error && reading.error.status !== 401 && reading.error.status !== 0 && (
          <div class="stale-line" role="alert">
            <span class="c-bad">Not read again: {reading.error.message}</span>{" "}
            <Button kind="quiet" onClick={reading.again}>
              Try now
            </Button>
          </div>
        )}
        {props.children(reading.data)}
      </>
    );
  if (reading.error && reading.error.status !== 401)
    return <Failed what={what} error={reading.error} again={reading.again} />;
  return reading.slow ? (
    <Bones {...(rows !== undefined && { rows })} />
  ) : (
    <div class="unread" aria-busy="true" />
  );
}
