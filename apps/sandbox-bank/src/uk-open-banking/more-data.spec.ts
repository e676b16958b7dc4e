import { everything, startForTest, TppAtBank, type TppFixture } from '../tpp.fixture.js';

let fixture: TppFixture;
let tpp: TppAtBank;
let token: string;
let account: string;
const detail = [
  ...everything,
  'ReadBeneficiariesDetail',
  'ReadDirectDebits',
  'ReadStandingOrdersDetail',
  'ReadScheduledPaymentsDetail',
  'ReadStatementsDetail',
  'ReadParty',
  'ReadPartyPSU',
];

beforeAll(async () => {
  fixture = await startForTest();
  tpp = new TppAtBank(fixture, 'meridian');
  token = (await tpp.authorise(await tpp.createAccountConsent(detail), 'accounts')).access_token;
  account = fixture.sandbox.ledger.accountsOf('meridian', 'ada')[0]!.id;
});
afterAll(() => fixture.close());

type Item = Record<string, unknown> & {
  StatementId: string;
  StartDateTime: string;
  EndDateTime: string;
  StatementAmount: { Type: string; Amount: { Amount: string }; CreditDebitIndicator: string }[];
};

async function read(path: string, with_ = token): Promise<{ status: number; items: Item[]; code: string | undefined }> {
  const answer = await tpp.get(path, with_);
  const text = await answer.text();
  const body = (text === '' ? {} : JSON.parse(text)) as {
    Data?: Record<string, Item[]>;
    Errors?: { ErrorCode: string }[];
  };
  return {
    status: answer.status,
    items: Object.values(body.Data ?? {})[0] ?? [],
    code: body.Errors?.[0]?.ErrorCode,
  };
}
const below = (resource: string): string => `/aisp/accounts/${account}/${resource}`;

it('lists payees, mandates, standing orders and what is scheduled', async () => {
  const { items: payees } = await read(below('beneficiaries'));
  expect(payees[0]).toMatchObject({
    AccountId: account,
    BeneficiaryType: 'Trusted',
    CreditorAccount: { SchemeName: 'UK.OBIE.SortCodeAccountNumber', Name: 'LARKHILL LETTINGS' },
  });
  const { items: mandates } = await read(below('direct-debits'));
  expect(mandates.length).toBeGreaterThan(6);
  expect(mandates[0]).toMatchObject({
    DirectDebitStatusCode: 'ACTV',
    MandateRelatedInformation: { Frequency: { Type: 'MNTH', CountPerPeriod: 1, PointInTime: '03' } },
    Name: 'NORTHMERE COUNCIL TAX',
    PreviousPaymentAmount: { Currency: 'GBP' },
  });
  const { items: orders } = await read(below('standing-orders'));
  expect(orders).toMatchObject([
    {
      NextPaymentAmount: { Amount: '1395.00' },
      LastPaymentAmount: { Amount: '1395.00' },
      StandingOrderStatusCode: 'ACTV',
    },
  ]);
  const { items: scheduled } = await read(below('scheduled-payments'));
  expect(scheduled).toMatchObject([{ ScheduledType: 'Execution', InstructedAmount: { Amount: '42.00' } }]);
});

it('books a scheduled payment when its day comes, and shows the next one', async () => {
  const [first] = (await read(below('scheduled-payments'))).items;
  const due = String(first!['ScheduledPaymentDateTime']);
  const { clock, ledger } = fixture.sandbox;
  const offset = clock.offsetMs;
  clock.set(due);
  clock.advance('P1D');
  const row = ledger.latest(ledger.account(account)!, 'BILL PAYMENT NORTHMERE PARKING PERMITS');
  expect(row).toMatchObject({ amountMinor: -4200, bookedAt: Date.parse(due) });
  const again = (await tpp.authorise(await tpp.createAccountConsent(detail), 'accounts')).access_token;
  const [second] = (await read(below('scheduled-payments'), again)).items;
  expect(String(second!['ScheduledPaymentDateTime']) > due).toBe(true);
  clock.advance(`-PT${Math.round((clock.offsetMs - offset) / 1000)}S`);
});

it('has a statement for every month, each carrying on where the last one ended', async () => {
  const { items } = await read(below('statements'));
  expect(items).toHaveLength(23 + 1);
  const amountOf = (item: Item, type: string): number => {
    const found = item.StatementAmount.find((each) => each.Type === `UK.OBIE.${type}`)!;
    return Math.round(Number(found.Amount.Amount) * 100) * (found.CreditDebitIndicator === 'Debit' ? -1 : 1);
  };
  for (const [index, item] of items.slice(0, -1).entries())
    expect(amountOf(item, 'PreviousClosingBalance')).toBe(amountOf(items[index + 1]!, 'ClosingBalance'));
  for (const item of items)
    expect(
      amountOf(item, 'PreviousClosingBalance') + amountOf(item, 'TotalCredits') + amountOf(item, 'TotalDebits'),
    ).toBe(amountOf(item, 'ClosingBalance'));
  const query = 'fromStatementDateTime=2026-03-01T00:00:00&toStatementDateTime=2026-06-01T00:00:00';
  const some = (await read(`${below('statements')}?${query}`)).items.map((item) => item['StatementReference']);
  expect(some).toEqual(['2026-05', '2026-04', '2026-03']);
  expect((await read(`${below('statements')}?fromStatementDateTime=x`)).code).toBe('U002');
  const one = items[3]!;
  expect((await read(below(`statements/${one.StatementId}`))).items).toEqual([one]);
  expect((await read(below('statements/none'))).code).toBe('U011');
});

it('prints a statement as a PDF whose parts lie where its table says', async () => {
  const [latest] = (await read(below('statements'))).items;
  const answer = await tpp.get(below(`statements/${latest!.StatementId}/file`), token, { accept: 'application/pdf' });
  expect(answer.headers.get('content-type')).toBe('application/pdf');
  const text = Buffer.from(await answer.arrayBuffer()).toString('latin1');
  expect(text.startsWith('%PDF-1.4\n')).toBe(true);
  expect(text.trimEnd().endsWith('%%EOF')).toBe(true);
  const table = Number(/startxref\n(\d+)/.exec(text)?.[1]);
  const offsets = [...text.slice(table).matchAll(/^(\d{10}) 00000 n /gm)].map((match) => Number(match[1]));
  expect(offsets.length).toBeGreaterThan(5);
  for (const [index, offset] of offsets.entries())
    expect(text.slice(offset)).toMatch(new RegExp(`^${index + 1} 0 obj\n`));
  for (const match of text.matchAll(/\/Length (\d+) >>\nstream\n/g)) {
    const end = match.index + match[0].length + Number(match[1]);
    expect(text.slice(end, end + 10)).toBe('\nendstream');
  }
  expect(text).toContain('(Ada Thornbury, Personal Current Account');
  expect(text).toContain('BRACKENFIELD INSTRUMENTS SALARY');
});

it('knows who holds the account and who logged in', async () => {
  const holder = { PartyType: 'Sole', Name: 'Ada Thornbury', EmailAddress: 'ada.thornbury@example.test' };
  const party = async (path: string): Promise<unknown> =>
    ((await (await tpp.get(path, token)).json()) as { Data: { Party: unknown } }).Data.Party;
  expect(await party(below('party'))).toMatchObject(holder);
  expect(await party(below('parties'))).toMatchObject([holder]);
  expect(await party('/aisp/party')).toMatchObject(holder);
});

it('shows what the consent allows and no more', async () => {
  const basic = ['ReadAccountsBasic', 'ReadStandingOrdersBasic', 'ReadStatementsBasic', 'ReadBeneficiariesBasic'];
  const little = (
    await tpp.authorise(
      await tpp.createAccountConsent(basic, { TransactionFromDateTime: '2026-06-15T00:00:00+00:00' }),
      'accounts',
    )
  ).access_token;
  expect((await read(below('standing-orders'), little)).items[0]).not.toHaveProperty('CreditorAccount');
  expect((await read(below('beneficiaries'), little)).items[0]).not.toHaveProperty('CreditorAccount');
  const { items } = await read(below('statements'), little);
  expect(items.at(-1)!['StatementReference']).toBe('2026-07');
  expect(items[0]).not.toHaveProperty('StatementAmount');
  for (const resource of ['direct-debits', 'scheduled-payments', 'party', `statements/${items[0]!.StatementId}/file`])
    expect((await read(below(resource), little)).status).toBe(403);
  expect((await read('/aisp/party', little)).status).toBe(403);
});

it('is not there at a bank that lacks it', async () => {
  const tamar = new TppAtBank(fixture, 'tamar');
  const other = (await tamar.authorise(await tamar.createAccountConsent(detail), 'accounts')).access_token;
  const { id } = fixture.sandbox.ledger.accountsOf('tamar', 'ada')[0]!;
  for (const resource of ['beneficiaries', 'statements', 'party'])
    expect((await tamar.get(`/aisp/accounts/${id}/${resource}`, other)).status).toBe(404);
  expect((await tamar.post(`/aisp/accounts/${id}/balances`, other, {})).status).toBe(405);
});
