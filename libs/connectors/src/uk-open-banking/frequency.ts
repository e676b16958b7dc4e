import type { FrequencyResponse } from '#libs/contract';
import type { Table } from '../iso-codes.js';
import type { OBMandateRelatedInformation1 } from './resources.types.js';

/** OBFrequency6Code of v4.0; what is not here (`ADHO`, `INDA`, `NONE`) has no rhythm that could be named. */
const codes: Table<FrequencyResponse> = {
  DAIL: { frequencyType: 'DAILY' },
  WODL: { frequencyType: 'EVERY_WORKING_DAY' },
  WEEK: { frequencyType: 'WEEKLY', intervalWeek: 1 },
  FRTN: { frequencyType: 'EVERY_TWO_WEEKS', intervalWeek: 2 },
  FOWK: { frequencyType: 'WEEKLY', intervalWeek: 4 },
  MNTH: { frequencyType: 'MONTHLY', intervalMonth: 1 },
  TWMH: { frequencyType: 'EVERY_TWO_MONTHS', intervalMonth: 2 },
  ALMH: { frequencyType: 'EVERY_TWO_MONTHS', intervalMonth: 2 },
  QURT: { frequencyType: 'QUARTERLY', intervalMonth: 3 },
  FOMH: { frequencyType: 'MONTHLY', intervalMonth: 4 },
  FIMH: { frequencyType: 'MONTHLY', intervalMonth: 5 },
  MIAN: { frequencyType: 'SEMIANNUAL', intervalMonth: 6 },
  YEAR: { frequencyType: 'ANNUAL', intervalMonth: 12 },
};

const byWeeks: Table<FrequencyResponse['frequencyType']> = { 2: 'EVERY_TWO_WEEKS' };
const byMonths: Table<FrequencyResponse['frequencyType']> = {
  2: 'EVERY_TWO_MONTHS',
  3: 'QUARTERLY',
  6: 'SEMIANNUAL',
  12: 'ANNUAL',
};

const TEXT =
  /^(EvryDay|EvryWorkgDay|IntrvlDay|IntrvlWkDay|WkInMnthDay|IntrvlMnthDay|QtrDay)(?::(-?\w+))?(?::(-?\d+))?$/;

/** A frequency of v3.1, such as `IntrvlMnthDay:01:15`. `NotKnown` and what we do not know give nothing. */
export function frequencyOfText(text: string): FrequencyResponse | undefined {
  const [, kind, one = '', two = ''] = TEXT.exec(text.trim()) ?? [];
  const every = Number(one);
  const day = Number(two);
  switch (kind) {
    case 'EvryDay':
      return { frequencyType: 'DAILY' };
    case 'EvryWorkgDay':
      return { frequencyType: 'EVERY_WORKING_DAY' };
    case 'IntrvlDay':
      return isCount(every) ? { frequencyType: 'CALENDAR_DAY', executionDay: every } : undefined;
    case 'IntrvlWkDay':
      return isCount(every) && isCount(day)
        ? { frequencyType: byWeeks[every] ?? 'WEEKLY', intervalWeek: every, executionDay: day }
        : undefined;
    case 'WkInMnthDay':
      return isCount(every) && isCount(day)
        ? { frequencyType: 'MONTHLY', intervalWeek: every, executionDay: day }
        : undefined;
    case 'IntrvlMnthDay':
      // Days below zero count from the end of the month.
      return isCount(every) && Number.isInteger(day) && day !== 0
        ? { frequencyType: byMonths[every] ?? 'MONTHLY', intervalMonth: every, executionDay: day }
        : undefined;
    case 'QtrDay':
      // The three quarter-day calendars differ in their dates; the contract has no member for that.
      return { frequencyType: 'QUARTERLY', intervalMonth: 3 };
    default:
      return undefined;
  }
}

/** A frequency of v4.0: a code with the day it falls on, or a text in the words of v3.1. */
export function frequencyOfMandate(raw: OBMandateRelatedInformation1['Frequency']): FrequencyResponse | undefined {
  const type = raw?.Type?.trim() ?? '';
  const known = codes[type];
  if (!known) return frequencyOfText(type);
  const day = Number(raw?.PointInTime ?? '');
  return isCount(day) ? { ...known, executionDay: day } : { ...known };
}

function isCount(value: number): boolean {
  return Number.isInteger(value) && value > 0;
}
