import { frequencyOfMandate, frequencyOfText } from './frequency.js';

describe('a frequency in the words of v3.1', () => {
  it.each([
    ['EvryDay', { frequencyType: 'DAILY' }],
    ['EvryWorkgDay', { frequencyType: 'EVERY_WORKING_DAY' }],
    ['IntrvlDay:15', { frequencyType: 'CALENDAR_DAY', executionDay: 15 }],
    ['IntrvlWkDay:01:03', { frequencyType: 'WEEKLY', intervalWeek: 1, executionDay: 3 }],
    ['IntrvlWkDay:02:05', { frequencyType: 'EVERY_TWO_WEEKS', intervalWeek: 2, executionDay: 5 }],
    ['WkInMnthDay:02:01', { frequencyType: 'MONTHLY', intervalWeek: 2, executionDay: 1 }],
    ['IntrvlMnthDay:01:-01', { frequencyType: 'MONTHLY', intervalMonth: 1, executionDay: -1 }],
    ['IntrvlMnthDay:02:10', { frequencyType: 'EVERY_TWO_MONTHS', intervalMonth: 2, executionDay: 10 }],
    ['IntrvlMnthDay:03:31', { frequencyType: 'QUARTERLY', intervalMonth: 3, executionDay: 31 }],
    ['IntrvlMnthDay:06:15', { frequencyType: 'SEMIANNUAL', intervalMonth: 6, executionDay: 15 }],
    ['IntrvlMnthDay:12:01', { frequencyType: 'ANNUAL', intervalMonth: 12, executionDay: 1 }],
    ['IntrvlMnthDay:24:01', { frequencyType: 'MONTHLY', intervalMonth: 24, executionDay: 1 }],
    ['QtrDay:ENGLISH', { frequencyType: 'QUARTERLY', intervalMonth: 3 }],
  ])('%s is %j', (text, expected) => {
    expect(frequencyOfText(text)).toEqual(expected);
  });

  it.each(['NotKnown', '', 'Sometimes', 'IntrvlDay', 'IntrvlWkDay:01', 'IntrvlMnthDay:01:00', 'IntrvlWkDay:xx:yy'])(
    '%j says nothing',
    (text) => {
      expect(frequencyOfText(text)).toBeUndefined();
    },
  );
});

describe('a frequency of v4.0', () => {
  it.each([
    [
      { Type: 'WEEK', PointInTime: '03' },
      { frequencyType: 'WEEKLY', intervalWeek: 1, executionDay: 3 },
    ],
    [{ Type: 'FRTN' }, { frequencyType: 'EVERY_TWO_WEEKS', intervalWeek: 2 }],
    [
      { Type: 'MNTH', PointInTime: '15' },
      { frequencyType: 'MONTHLY', intervalMonth: 1, executionDay: 15 },
    ],
    [
      { Type: 'MNTH', CountPerPeriod: 1 },
      { frequencyType: 'MONTHLY', intervalMonth: 1 },
    ],
    [
      { Type: 'MNTH', PointInTime: '00' },
      { frequencyType: 'MONTHLY', intervalMonth: 1 },
    ],
    [{ Type: 'YEAR' }, { frequencyType: 'ANNUAL', intervalMonth: 12 }],
    [{ Type: 'IntrvlWkDay:02:05' }, { frequencyType: 'EVERY_TWO_WEEKS', intervalWeek: 2, executionDay: 5 }],
  ])('%j is %j', (raw, expected) => {
    expect(frequencyOfMandate(raw)).toEqual(expected);
  });

  it.each([[undefined], [{}], [{ Type: 'NONE' }], [{ Type: 'ADHO' }]])('%j says nothing', (raw) => {
    expect(frequencyOfMandate(raw)).toBeUndefined();
  });
});
