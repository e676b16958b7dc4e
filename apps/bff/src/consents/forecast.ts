import { ConnectionStatus } from '../connections/connection-state.js';
import { meaningOf } from '../sync/sync-fault.js';
import { daysLeft, hasStopped, runningClocks, StopCause } from './consent-clocks.js';
import { Action, Forecast, type Interruption, Outlook, Owner } from './forecast.dto.js';

/** The columns of a connection that its forecast stands on. */
export interface ForecastRow {
  id: string;
  status: string;
  reason: string | null;
  health: string;
  authorised_at: Date | null;
  expires_at: Date | null;
  sca_until: Date | null;
  reconfirm_by: Date | null;
  reconfirmable: boolean;
  stops_at: Date | null;
  stop_cause: string | null;
  next_sync_at: Date | null;
  features: string[] | null;
  /** Why the last synchronisation did not end well. */
  problem: string | null;
}

/** The action that takes a connection past this cause; whatever is no clock of ours needs the bank's pages again. */
export function actionFor(cause: string | null): Action {
  return cause === StopCause.reconfirmation ? Action.reconfirm : Action.renew;
}

/** Where to post for an action; absent where there is nothing to post. */
export function linkFor(action: Action, connectionId: string): string | undefined {
  if (action === Action.renew) return `/v1/connections/${connectionId}/renewals`;
  if (action === Action.reconfirm) return `/v1/connections/${connectionId}/reconfirmation`;
  return action === Action.connect ? '/v1/connections' : undefined;
}

/** Who mends a fault of a synchronisation. */
function mender(problem: string): Owner {
  const owner = meaningOf(problem)?.owner;
  if (owner === 'user') return Owner.customer;
  return owner === 'institution' ? Owner.institution : Owner.operator;
}

/** The forecast of a connection as it stands at the instant `at`. */
export function forecastOf(row: ForecastRow, at: Date): Forecast {
  const verdict = verdictOf(row, at);
  const link = linkFor(verdict.action, row.id);
  const interruption = row.status === ConnectionStatus.active ? interruptionOf(row) : undefined;
  const dates = { authorisedAt: row.authorised_at, expiresAt: row.expires_at, reconfirmBy: row.reconfirm_by };
  const clocks = runningClocks({ ...dates, scaUntil: row.sca_until }, { isReconfirmable: row.reconfirmable });
  return {
    ...verdict,
    ...(link === undefined ? {} : { link }),
    ...(interruption === undefined ? {} : { interruption }),
    data: row.features ?? [],
    clocks: clocks.map((clock) => ({ clock: clock.cause, at: clock.at.toISOString() })),
  };
}

type Verdict = Omit<Forecast, 'link' | 'interruption' | 'data' | 'clocks'>;

function verdictOf(row: ForecastRow, at: Date): Verdict {
  switch (row.status) {
    case ConnectionStatus.active:
      return hasStopped(row.stops_at, at) ? stopped(row, row.stop_cause) : ahead(row, at);
    case ConnectionStatus.needsUser:
      return stopped(row, row.reason);
    case ConnectionStatus.preparing:
    case ConnectionStatus.awaitingAuthorisation:
      return { outlook: Outlook.stopped, owner: Owner.customer, action: Action.authorise, ...because(row.status) };
    default:
      return { outlook: Outlook.stopped, owner: Owner.customer, action: Action.connect, ...because(row.reason) };
  }
}

function stopped(row: ForecastRow, cause: string | null): Verdict {
  const since = row.stops_at === null ? {} : { at: row.stops_at.toISOString(), daysLeft: 0 };
  return { outlook: Outlook.stopped, ...since, ...because(cause), owner: Owner.customer, action: actionFor(cause) };
}

/** A fault that passes: data are late, and there is nothing for the customer to do. */
function interruptionOf({ health, problem, next_sync_at: next }: ForecastRow): Interruption | undefined {
  if (health !== 'degraded' || problem === null) return undefined;
  return { cause: problem, owner: mender(problem), ...(next === null ? {} : { nextAttemptAt: next.toISOString() }) };
}

function ahead({ stops_at: stopsAt, stop_cause: cause }: ForecastRow, at: Date): Verdict {
  if (stopsAt === null) return { outlook: Outlook.steady, owner: Owner.nobody, action: Action.nothing };
  const when = { at: stopsAt.toISOString(), daysLeft: daysLeft(stopsAt, at) };
  return { outlook: Outlook.ahead, ...when, ...because(cause), owner: Owner.customer, action: actionFor(cause) };
}

function because(cause: string | null): { cause?: string } {
  return cause === null ? {} : { cause };
}
