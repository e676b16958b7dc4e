/** How a bank reaches a person. Numbers are from Ofcom's range for fiction, addresses under a domain that never exists. */
export interface Contact {
  email: string;
  mobile: string;
  street: string;
  building: string;
  postCode: string;
  town: string;
}

const contacts: Record<string, Contact> = {
  ada: {
    email: 'ada.thornbury@example.test',
    mobile: '+44-7700900142',
    street: 'Larkhill Road',
    building: '14',
    postCode: 'NM2 4QX',
    town: 'Northmere',
  },
  ben: {
    email: 'ben.okonjo-hale@example.test',
    mobile: '+44-7700900268',
    street: 'Quadrangle Walk',
    building: '3B',
    postCode: 'NM1 1AC',
    town: 'Northmere',
  },
  chloe: {
    email: 'chloe.varga@example.test',
    mobile: '+44-7700900391',
    street: 'Foundry Lane',
    building: '7',
    postCode: 'TD5 8WB',
    town: 'Tideway',
  },
};

export function contactOf(persona: string): Contact | undefined {
  return contacts[persona];
}
