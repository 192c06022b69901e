/** What workers tell the part of the keeper that writes outlines. */

export interface OutlinesUp {
  /** Lines of JSON, each with its end of line. */
  readonly text: string;
  readonly days: number;
  readonly fileBytes: number;
}
