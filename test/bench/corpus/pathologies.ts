/** The habits of a bank; each field is one bad one. */
export interface Habits {
  ids?:
    | 'missing'
    | 'blank'
    | 'placeholder'
    | 'reissued'
    | 'reissued-once'
    | 'positional'
    | 'of-the-day'
    | 'given-again'
    | 'only-booked'
    | 'a-day-late'
    | 'changed-on-booking';
  text?: 'extended' | 'cleaned' | 'replaced' | 'case-changed' | 'renumbered';
  date?: 'moved-to-booking' | 'future' | 'appears-later' | 'value-until-booked' | 'back-dated' | 'shifted-once';
  amount?: 'tipped';
  sign?: 'unsigned-while-pending' | 'flipped-once';
  /** Days for which a pending row goes on being shown beside its booking. */
  besideDays?: number;
  /** Share of the rows that appear only days after their date. */
  late?: number;
  twins?: number;
  cancelled?: number;
  reference?: boolean;
  /** An account of a shop: everything is a receipt of one price, whose text is the number of an invoice or the name of a payer. */
  receipts?: 'numbers' | 'names';
  runningBalance?: boolean;
  /** Share of the answers that show nothing, and of the booked rows that an answer forgets. */
  empty?: number;
  forgotten?: number;
  /** Days of history that the bank shows. */
  shows?: number;
  /** Days that are asked for after the first answer. */
  asked?: number;
  /** Bookings only on every seventh day. */
  batch?: boolean;
  noPending?: boolean;
  /** Nothing that lasts tells which booking a pending row became: these are counted by themselves. */
  noClue?: boolean;
}

/** Pathologies of real banks, by name, under what they do to whoever reads the bank. Every one leaves a clue that lasts, unless it says `noClue`. */
export const pathologiesByKind = {
  'a pending row becomes another row when it is booked': {
    'id changes on booking': { ids: 'changed-on-booking' },
    'id, date and text change on booking': { ids: 'changed-on-booking', text: 'extended', date: 'moved-to-booking' },
    'text extended on booking': { text: 'extended', ids: 'missing' },
    'text cleaned on booking': { text: 'cleaned', ids: 'changed-on-booking' },
    'text replaced on booking, reference kept': { text: 'replaced', ids: 'changed-on-booking', reference: true },
    'amount changes on booking, id kept': { amount: 'tipped' },
    'amount and id change on booking, reference kept': { amount: 'tipped', ids: 'changed-on-booking', reference: true },
    // With the id, the amount and no reference, all is gone that could tell it from another purchase in the same shop.
    'amount and id change on booking': { amount: 'tipped', ids: 'changed-on-booking', noClue: true },
    'pending beside booked, same id': { besideDays: 3 },
    'pending beside booked, other id': { besideDays: 3, ids: 'changed-on-booking' },
    'pending beside booked, other id and text': { besideDays: 3, ids: 'changed-on-booking', text: 'extended' },
    'pending beside booked, other id and date': { besideDays: 3, ids: 'changed-on-booking', date: 'moved-to-booking' },
    'pending rows that vanish': { cancelled: 0.3, ids: 'changed-on-booking' },
    'booked once a week': { batch: true, ids: 'changed-on-booking', text: 'extended' },
    'booked rows only': { noPending: true, ids: 'missing' },
  },
  'ids are missing, blank, reissued, late or positional': {
    'none: stable ids': {},
    'ids missing': { ids: 'missing' },
    'ids blank': { ids: 'blank' },
    'ids are a placeholder': { ids: 'placeholder' },
    'ids reissued in every answer': { ids: 'reissued' },
    'ids are line numbers': { ids: 'positional', late: 0.1 },
    'ids are date and line': { ids: 'of-the-day', late: 0.1 },
    'ids given again after a while': { ids: 'given-again' },
    'id only once booked': { ids: 'only-booked' },
    'id only a day after the booking': { ids: 'a-day-late' },
  },
  'true twins look like one row shown twice': {
    'true twins without ids': { twins: 0.3, ids: 'missing' },
    'true twins with running balances': { twins: 0.3, ids: 'missing', runningBalance: true },
    'true twins, ids reissued in every answer': { twins: 0.3, ids: 'reissued' },
    'true twins of which some are cancelled': { twins: 0.3, cancelled: 0.3, ids: 'changed-on-booking' },
  },
  'everything is named anew at a re-consent': {
    'ids reissued once, at re-consent': { ids: 'reissued-once' },
    'ids reissued and texts rewritten, at re-consent': { ids: 'reissued-once', text: 'case-changed' },
    'ids reissued once, history cut off at 30 days': { ids: 'reissued-once', shows: 30 },
    'text of the whole history rewritten': { text: 'case-changed', ids: 'missing' },
  },
  'dates mislead': {
    'date moves on booking': { date: 'moved-to-booking', ids: 'missing' },
    'booking dates in the future': { date: 'future', ids: 'changed-on-booking' },
    'dates that appear later': { date: 'appears-later', ids: 'changed-on-booking' },
    'value date only until booked': { date: 'value-until-booked', ids: 'changed-on-booking' },
    'rows dated back': { date: 'back-dated', ids: 'changed-on-booking' },
    'dates of the whole history shifted by a day': { date: 'shifted-once', ids: 'missing' },
    'rows that arrive late': { late: 0.2, ids: 'missing' },
  },
  'signs and balances change under a row': {
    'no sign while pending': { sign: 'unsigned-while-pending', ids: 'changed-on-booking' },
    'signs of the whole history turned': { sign: 'flipped-once' },
    'running balances rewritten by late rows': { late: 0.1, runningBalance: true },
    'running balances, ids missing': { runningBalance: true, ids: 'missing' },
  },
  'an answer is less than the whole': {
    'history cut off at 30 days': { shows: 30, ids: 'reissued' },
    'windows that overlap by ten days': { asked: 10, ids: 'changed-on-booking', late: 0.05 },
    'answers that show nothing': { empty: 0.2, ids: 'missing' },
    'rows that an answer forgets': { forgotten: 0.02, ids: 'missing' },
  },
  'texts mislead': {
    'receipts of one price, told apart by a number': { receipts: 'numbers', ids: 'changed-on-booking' },
    'receipts of one price, text extended on booking': { receipts: 'numbers', text: 'extended', ids: 'missing' },
    'receipts of one price, of payers with like names': { receipts: 'names', ids: 'missing' },
    'ids are date and line, receipts of one price': { ids: 'of-the-day', late: 0.1, receipts: 'numbers' },
    'a number in the text changes on booking': { text: 'renumbered', ids: 'missing' },
    'a number in the text changes on booking, id kept': { text: 'renumbered' },
  },
} satisfies Record<string, Record<string, Habits>>;

/** The same by name alone. */
export const pathologies: Readonly<Record<string, Habits>> = Object.assign({}, ...Object.values(pathologiesByKind));
