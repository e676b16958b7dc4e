import { Injectable } from '@nestjs/common';
import { parseDateTime, problems, type CursorLinks } from '#libs/contract';
import type { Page } from '#libs/connectors';
import { SecretBox, UnsealingError } from '#libs/database';
import { now } from '#libs/server';
import type { Window } from './row-window.js';

/** How long the cursors of a page are good. */
const CURSOR_MS = 3_600_000;

/**
 * A page of a bank's list, counted from 1. `cursor` is the bank's own word for it; where the bank did not give one, the page is
 * found by following the bank's links from `from`, or from the first page. `back` is the bank's word for the page before it.
 */
export interface Position {
  page: number | 'last';
  cursor?: string;
  back?: string;
  from?: { page: number; cursor?: string; back?: string };
}

/** What a cursor carries: the page, and the window that the first request asked for. */
export interface Place {
  position: Position;
  window: Window;
}

/** The list that a cursor belongs to: under another consent or for another account it does not open. */
export interface CursorOwner {
  consentId: string;
  accountId: string;
}

interface Written {
  position: Position;
  from?: string;
  before?: string;
  until: number;
}

export const firstPage: Position = { page: 1 };

/** Writes and reads the opaque cursors of real-time lists. They are sealed, so that a bank's links stay between it and us. */
@Injectable()
export class RealTimeCursors {
  constructor(private readonly box: SecretBox) {}

  /** Reads a cursor; 400 when it is not ours, belongs to another list or is older than an hour. */
  read(cursor: unknown, owner: CursorOwner): Place {
    const { position, from, before, until } = this.open(cursor, owner);
    if (until <= now().getTime()) throw refused('The cursor has expired: ask for the first page again');
    const [start, end] = [from, before].map((text) => (text === undefined ? undefined : parseDateTime(text)));
    return { position, window: { ...(start ? { from: start } : {}), ...(end ? { before: end } : {}) } };
  }

  /**
   * The links of a page (interface, part 4.2.1): the first page has self, next and last; one in the middle all five; the final
   * page first, prev and self; and a page that is alone only itself.
   */
  linksOf(place: Place & { answer: Page<unknown> }, owner: CursorOwner): CursorLinks {
    const { position, answer } = place;
    const page = Number(position.page);
    const write = (to: Position) => this.write({ position: to, window: place.window }, owner);
    const here = { page, ...hold('cursor', position.cursor), ...hold('back', position.back) };
    return {
      ...(page > 1 ? { first: write(firstPage), prev: write(pageBefore(here, answer)) } : {}),
      self: write(here),
      ...(answer.next === undefined
        ? {}
        : { next: write({ page: page + 1, cursor: answer.next, ...hold('back', position.cursor) }) }),
      ...(answer.next === undefined ? {} : { last: write({ page: 'last', from: here }) }),
    };
  }

  private write({ position, window }: Place, owner: CursorOwner): string {
    const written: Written = {
      position,
      ...(window.from ? { from: window.from.toISOString() } : {}),
      ...(window.before ? { before: window.before.toISOString() } : {}),
      until: now().getTime() + CURSOR_MS,
    };
    return this.box.seal(JSON.stringify(written), contextOf(owner));
  }

  private open(cursor: unknown, owner: CursorOwner): Written {
    if (typeof cursor !== 'string') throw refused('cursor must be given once');
    try {
      return JSON.parse(this.box.open(cursor, contextOf(owner))) as Written;
    } catch (error) {
      if (error instanceof UnsealingError) throw refused('The cursor is not one of this list');
      throw error;
    }
  }
}

/** The page before: by the bank's own link, by the one that led here, or counted from the first. */
function pageBefore({ page, back }: { page: number; back?: string }, { previous }: Page<unknown>): Position {
  if (page === 2) return firstPage;
  const cursor = previous ?? back;
  return cursor === undefined ? { page: page - 1, from: { page: 1 } } : { page: page - 1, cursor };
}

function hold<K extends string>(name: K, value: string | undefined): { [Name in K]?: string } {
  return (value === undefined ? {} : { [name]: value }) as { [Name in K]?: string };
}

function contextOf({ consentId, accountId }: CursorOwner): string {
  return `real-time:${consentId}:${accountId}`;
}

function refused(message: string): Error {
  return problems.unexpectedValue({ parameter: 'cursor', message });
}
