import { readJson, Unreadable } from "../../json/exact-json.ts";
import { printString } from "../../json/print-json.ts";
import { trimSpace } from "../../text/trim.ts";
import { readSidecarLine } from "./sidecar.ts";

const STRING = /"(?:[^"\\]|\\.)*"/g;

type Scrub = (text: string) => string;

/**
 * A line of a sidecar without its secrets, otherwise as it was written: numbers, spaces, unknown members and the order of all of them
 * stay. Doing it twice changes nothing more. A secret that spreads over several members may take the marks between them along; then
 * the line cannot be read any more, and readers refuse it.
 */
export function scrubLine(line: string, scrub: Scrub): string {
  // Most lines have none; then nothing is parsed.
  const whole = scrub(line);
  if (whole === line || !isReadable(line)) return whole;
  return scrub(line.replace(STRING, (literal) => scrubLiteral(literal, scrub)));
}

function scrubLiteral(literal: string, scrub: Scrub): string {
  const text = JSON.parse(literal) as string;
  const clean = scrub(text);
  return clean === text ? literal : printString(clean);
}

function isReadable(line: string): boolean {
  try {
    readSidecarLine(readJson(trimSpace(line)));
    return true;
  } catch (error) {
    if (error instanceof Unreadable) return false;
    throw error;
  }
}
