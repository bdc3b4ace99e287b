// For tests of the ledgers: what a journal does to a fleet, and how a machine stands afterwards.

import { aMachine, aNeed, stampOf } from '../../test/fleets.ts';
