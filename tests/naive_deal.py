"""One whole deal, played or checked the slow and obvious way (RULES sections 3-7). Standard library only.

`Deal` holds the state and is the one judge of what is legal; `play_deal` drives it with strategies and
`check_events` with a list of events somebody else wrote down.
"""

import random
from dataclasses import dataclass, field

import naive
from naive import card_code, codes_of, deadwood, is_honour, meld_points, without

PASS, WIN = ("pass", ()), ("win", ())


@dataclass
class Seat:
    """What one seat holds. `hand` leaves out the shown quads and the locked triples (one number for each)."""

    hand: tuple
    triples: tuple = ()
    quads: tuple = ()
    exposed: tuple = ()  # of (kind, cards)

    def fixed_points(self, rules):
        """Points of the exposed melds and of the shown quads, which count as concealed."""
        points = sum(meld_points(rules, kind, cards[0], exposed=True) for kind, cards in self.exposed)
        return points + sum(meld_points(rules, "quad", card, exposed=False) for card in self.quads)

    def cards(self):
        """Every card the seat holds, concealed or exposed."""
        melded = [card for _, cards in self.exposed for card in cards]
        return [*self.hand, *self.triples * 3, *self.quads * 4, *melded]

    def lay(self, card, meld):
        """The seat after laying this (kind, partners) with the card."""
        kind, partners = meld
        exposed = (*self.exposed, (kind, tuple(sorted((card, *partners)))))
        if kind == "quad" and card in self.triples:
            return Seat(self.hand, without(self.triples, [card]), self.quads, exposed)
        return Seat(without(self.hand, partners), self.triples, self.quads, exposed)

    def discardable(self):
        """The cards the seat may discard, copies apart."""
        return [card for card in self.hand if not is_honour(card)]


@dataclass
class View:
    """What a strategy sees when asked: its own seat and what is public. `card` is None when discarding."""

    rules: dict
    number: int
    own: Seat
    seen: list  # copies of each card type drawn, discarded or exposed so far
    exposed: list  # of every seat
    discarded: set  # card types that lay in a discard window, drawn or from a hand
    card: int = None
    window: str = None  # "draw" or "discard"
    turn: int = None  # the drawer or the discarder
    forced: bool = False


@dataclass
class Deal:
    """The state of a deal. `phase` says what is due: draw, window, discard, over; `turn` says whose it is.

    In a window `turn` is the drawer or the discarder.
    """

    rules: dict
    dealer: int
    seats: list
    stock: list
    phase: str = "start"
    turn: int = 0
    window: str = None
    card: int = None
    dead: list = field(default_factory=list)
    seen: list = field(default_factory=lambda: [0] * 29)
    events: list = field(default_factory=list)
    winner: int = None
    score: int = 0
    win_by: str = None
    outcome: str = None
    dealt: list = None  # what each seat could partition at the start

    @property
    def players(self):
        """Number of seats."""
        return len(self.seats)

    def round_from(self, seat):
        """All seats in order of turn, from this one."""
        return [(seat + step) % self.players for step in range(self.players)]

    def log(self, event, **values):
        """Append an event, cards as codes."""
        self.events.append({"event": event, **values})

    def over(self, outcome):
        """End the deal."""
        self.phase, self.outcome, self.card = "over", outcome, None

    # ------------------------------------------------------------------------------------- before the play

    def begin(self):
        """Show the dealt quads, look for a dealt win, then for redeals; and leave the first move due."""
        assert self.phase == "start"
        dealt = [seat.hand for seat in self.seats]
        for number in self.round_from(self.dealer):
            self.lock(number)
        self.dealt = [seat.hand for seat in self.seats]
        self.turn, self.phase = self.dealer, "discard" if self.rules["dealer_21"] else "draw"
        if self.rules["dealer_21"] and self.dealt_win():
            return
        if self.rules["redeal"] == "always":
            for number in self.round_from(self.dealer):
                if may_redeal(self.rules, dealt[number]):
                    self.log("redeal", seat=number)
                    self.over("redeal")

    def lock(self, number):
        """Show the dealt quads of a seat and set them apart, and its dealt triples where they are locked."""
        seat = self.seats[number]
        chess = [card for card in sorted(set(seat.hand)) if card != naive.FLOWER]
        if self.rules["show_quads"]:
            seat.quads = tuple(card for card in chess if seat.hand.count(card) == 4)
        if self.rules["lock_dealt_triples"]:
            seat.triples = tuple(card for card in chess if seat.hand.count(card) == 3 and not is_honour(card))
        seat.hand = without(seat.hand, seat.quads * 4 + seat.triples * 3)
        for card in seat.quads:
            self.seen[card] += 4
            self.log("show", seat=number, meld="quad", card=card_code(card))

    def dealt_win(self):
        """End the deal if the dealer's 21 cards win; all of them score as concealed."""
        seat = self.seats[self.dealer]
        best = naive.best_partition(self.rules, seat.hand)
        if best is None:
            return False
        triples = sum(meld_points(self.rules, "triple", card, exposed=False) for card in seat.triples)
        score = best[0] + triples + seat.fixed_points(self.rules)
        if score < self.rules["min_points"]:
            return False
        self.win(self.dealer, None, score, "dealt")
        return True

    # ------------------------------------------------------------------------------------------ the offers

    def forced(self, number):
        """True for the drawer of a General or a flower, who may not pass."""
        return self.window == "draw" and number == self.turn and is_honour(self.card)

    def in_turn(self, number, kind):
        """May the seat lay a meld of this kind without winning, as the table of section 3 says?"""
        rules, honour = self.rules, is_honour(self.card)
        if self.window == "draw" and number == self.turn:
            return rules["drawer_pair"] or kind != "pair"
        if honour:  # the drawer must take it, but for a fourth General; the next seat's command cannot be
            return kind == "quad" and rules["claim_general_quad"]
        if kind in ("triple", "quad"):
            return True
        next_seat = number == (self.turn + 1) % self.players
        if not next_seat or (self.window == "draw" and not rules["next_in_draw_window"]):
            return False
        return kind != "pair" or rules["next_pair"]

    def win_score(self, number):
        """The score of the seat's best win with the card of the window; None if it has none."""
        seat = self.seats[number]
        best = naive.best_win(self.rules, seat.hand, self.card, seat.fixed_points(self.rules), seat.triples)
        return None if best is None else best[0]

    def wins_with(self, number, meld):
        """Does laying this meld win?"""
        seat, fixed = self.seats[number], self.seats[number].fixed_points(self.rules)
        return naive.best_win_by(self.rules, seat.hand, self.card, meld, fixed, seat.triples) is not None

    def offers(self, number):
        """Every legal answer of a seat in the open window: PASS, WIN and (kind, partners)."""
        assert self.phase == "window"
        if self.window == "discard" and number == self.turn:
            return []
        seat, forced = self.seats[number], self.forced(number)
        all_melds = naive.melds_with(self.rules, self.card, seat.hand, seat.triples)
        short = [meld for meld in all_melds if not self.wins_with(number, meld)]
        melds = [meld for meld in short if self.in_turn(number, meld[0])]
        playable = [meld for meld in melds if seat.lay(self.card, meld).discardable()]
        wins = [WIN] if len(short) < len(all_melds) else []
        if forced and not wins and not playable:
            return melds  # a dead hand whatever it answers
        return ([] if forced else [PASS]) + wins + playable

    def all_offers(self):
        """The offers of every seat, by seat."""
        return [self.offers(number) for number in range(self.players)]

    def level(self, number, answer):
        """Level of priority 1 (first) to 5 of an answer that is no pass."""
        mine = self.window == "draw" and number == self.turn
        if answer == WIN:
            return 1 if mine else 2
        if answer[0] in ("triple", "quad"):
            return 3
        return 4 if mine else 5

    def owner(self, answers):
        """The seat whose answer (by seat; None for the discarder) gets the card; None if nobody wants it."""
        first = self.turn if self.window == "draw" else (self.turn + 1) % self.players
        asking = [number for number in self.round_from(first) if answers[number] not in (None, PASS)]
        return min(asking, key=lambda number: self.level(number, answers[number]), default=None)

    # ------------------------------------------------------------------------------------------- the moves

    def draw(self):
        """Draw a card from the stock, or end the deal where none may be drawn."""
        assert self.phase == "draw"
        if len(self.stock) <= self.rules["reserve"]:
            self.log("exhausted")
            self.over("exhausted")
            return
        self.open_window("draw", self.turn, self.stock.pop(0))
        self.seen[self.card] += 1
        self.log("draw", seat=self.turn, card=card_code(self.card))

    def open_window(self, window, turn, card):
        """Offer a card that has just become public."""
        self.phase, self.window, self.turn, self.card = "window", window, turn, card

    def settle(self, answers):
        """Close the window with the answers of all seats."""
        for number, answer in enumerate(answers):
            assert answer in self.offers(number) or (answer is None and not self.offers(number))
        owner = self.owner(answers)
        if owner is None:
            self.nobody_takes()
        elif answers[owner] == WIN:
            drawn = "own_draw" if owner == self.turn else "other_draw"
            win_by = drawn if self.window == "draw" else "discard"
            self.win(owner, self.card, self.win_score(owner), win_by)
        else:
            self.take(owner, answers[owner])

    def nobody_takes(self):
        """A drawn card becomes the drawer's discard; a discard lies dead and the next seat draws."""
        if self.window == "draw":
            self.log("discard", seat=self.turn, card=card_code(self.card))
            self.open_window("discard", self.turn, self.card)
        else:
            self.dead.append(self.card)
            self.card, self.phase, self.turn = None, "draw", (self.turn + 1) % self.players

    def win(self, number, card, score, win_by):
        """End the deal with a win; the card goes to the winner."""
        self.log("win", seat=number, card=None if card is None else card_code(card), score=score)
        if card is not None:
            self.seats[number].hand = tuple(sorted((*self.seats[number].hand, card)))
        self.winner, self.score, self.win_by = number, score, win_by
        self.over("win")

    def take(self, number, meld):
        """Lay a meld with the card; the seat must then discard, and its hand is dead if it cannot."""
        kind, partners = meld
        self.seats[number] = self.seats[number].lay(self.card, meld)
        for card in partners:
            self.seen[card] += 1
        self.log("take", seat=number, card=card_code(self.card), meld=kind, **{"with": codes_of(partners)})
        self.phase, self.turn, self.card = "discard", number, None
        if not self.seats[number].discardable():
            self.log("dead_hand", seat=number)
            self.over("dead_hand")

    def discard(self, card):
        """Discard a card of the hand of the seat whose turn it is."""
        assert self.phase == "discard"
        seat = self.seats[self.turn]
        assert card in seat.discardable()
        seat.hand = without(seat.hand, [card])
        self.seen[card] += 1
        self.log("discard", seat=self.turn, card=card_code(card))
        self.open_window("discard", self.turn, card)

    def view(self, number):
        """What the seat may see now."""
        exposed = [seat.exposed for seat in self.seats]
        discarded = {naive.card_number(event["card"]) for event in self.events if event["event"] == "discard"}
        view = View(self.rules, number, self.seats[number], list(self.seen), exposed, discarded)
        if self.phase == "window":
            view.card, view.window, view.turn = self.card, self.window, self.turn
            view.forced = self.forced(number)
        return view

    def check_cards(self):
        """Every card of the pack is in one place, and no public count is too high."""
        cards = [card for seat in self.seats for card in seat.cards()] + self.dead + self.stock
        cards += [] if self.card is None else [self.card]
        assert sorted(cards) == naive.pack(self.rules), "the cards are not those of the pack"
        public = [card for seat in self.seats for _, cards in seat.exposed for card in cards]
        public += [card for seat in self.seats for card in seat.quads * 4] + self.dead
        public += [] if self.card is None else [self.card]
        if self.outcome != "win":  # the winning card has gone into the hand
            assert self.seen == [public.count(card) for card in range(29)], "seen cards are miscounted"


def may_redeal(rules, dealt):
    """Is a dealt hand without General, triple, quad and (where it is a meld) four of different colours?"""
    kinds = {kind for card in set(dealt) for kind, _ in naive.melds_with(rules, card, without(dealt, [card]))}
    general = any(naive.rank_of(card) == 0 for card in dealt)
    return not general and not kinds & {"triple", "quad", "soldiers4", "colours4"}


# ---------------------------------------------------------------------------------------------- strategies


class Greedy:
    """The strategy `greedy` of section 7, by trying everything."""

    ORDER = ("single", "quad", "triple", "command|field", "soldiers4|colours4", "soldiers3|colours3", "pair")

    def answer(self, view, offers):
        """Choose one of the offers."""
        melds = [offer for offer in offers if offer not in (PASS, WIN)]
        if WIN in offers or not melds:
            return WIN if WIN in offers else PASS
        best = min(melds, key=lambda meld: self.merit(view, meld))
        better = self.merit(view, best)[0] < deadwood(view.rules, view.own.hand)
        return best if view.forced or better else PASS

    def merit(self, view, meld):
        """The order of preference of a meld, least first; it begins with D(M)."""
        kind, partners = meld
        after = view.own.lay(view.card, meld)
        left = [deadwood(view.rules, without(after.hand, [card])) for card in set(after.discardable())]
        least = min(left, default=0)  # none where the hand is dead whatever is laid
        order = next(place for place, kinds in enumerate(self.ORDER) if kind in kinds.split("|"))
        return least, -meld_points(view.rules, kind, view.card, exposed=True), order, partners

    def discard(self, view):
        """Choose a card to discard."""

        def merit(card):
            return deadwood(view.rules, without(view.own.hand, [card])), potential(view, card), card

        return min(set(view.own.discardable()), key=merit)


def potential(view, card):
    """The potential of a chess card in the hand of the view's seat (section 7)."""
    hand = [*view.own.hand, *view.own.triples * 3]

    def live(other):
        return 4 - view.seen[other] - hand.count(other)

    total = 2 * live(card)
    if naive.rank_of(card) == 6:
        return total + 2 * sum(other in hand for other in range(6, 28, 7) if other != card)
    first = naive.colour_of(card) * 7 + (0 if naive.rank_of(card) < 3 else 3)
    a, b = [other for other in range(first, first + 3) if other != card]
    return total + (live(b) if a in hand else 0) + (live(a) if b in hand else 0)


class Random:
    """The strategy `random` of section 7; with `wins` false a win is one answer of many (for fuzzing)."""

    def __init__(self, seed, wins=True):
        self.source, self.wins = random.Random(seed), wins

    def answer(self, view, offers):
        """Choose one of the offers."""
        return WIN if self.wins and WIN in offers else self.source.choice(offers)

    def discard(self, view):
        """Choose a card to discard."""
        return self.source.choice(view.own.discardable())


# --------------------------------------------------------------------------------------- playing, checking


def numbers(cards):
    """Card numbers of a text of codes, or of numbers."""
    return naive.parse_cards(cards) if isinstance(cards, str) else list(cards)


def new_deal(rules, dealer, hands, stock):
    """A deal before its first event."""
    seats = [Seat(tuple(sorted(numbers(hand)))) for hand in hands]
    sizes = [20 + (rules["dealer_21"] and number == dealer) for number in range(rules["players"])]
    assert [len(seat.hand) for seat in seats] == sizes, "the hands are not of the right size"
    return Deal(rules, dealer, seats, numbers(stock))


def shuffled(rules, dealer, source):
    """Hands and stock of a pack shuffled with a random.Random."""
    cards = naive.pack(rules)
    source.shuffle(cards)
    hands = []
    for number in range(rules["players"]):
        size = 20 + (rules["dealer_21"] and number == dealer)
        hands.append(cards[:size])
        cards = cards[size:]
    return hands, cards


def play_deal(rules, dealer, hands, stock, strategies, next_deck=None):
    """Play one deal; the finished `Deal`.

    A redeal asks `next_deck(attempt)` for the next (hands, stock); without it the deal ends there.
    """
    before, attempt = [], 0
    while True:
        deal = new_deal(rules, dealer, hands, stock)
        deal.begin()
        if deal.outcome != "redeal" or next_deck is None:
            break
        before, attempt = before + deal.events, attempt + 1
        hands, stock = next_deck(attempt)
    while deal.phase != "over":
        step(deal, strategies)
    deal.events = before + deal.events
    return deal


def step(deal, strategies):
    """Do what is due."""
    if deal.phase == "draw":
        deal.draw()
    elif deal.phase == "discard":
        deal.discard(strategies[deal.turn].discard(deal.view(deal.turn)))
    else:
        answers = []
        for number, offers in enumerate(deal.all_offers()):
            answers.append(strategies[number].answer(deal.view(number), offers) if offers else None)
        deal.settle(answers)


def check_events(rules, players, options, dealer, hands, stock, events, redeals=()):
    """Assert that every event is legal, whatever the strategies; the checked `Deal`.

    `rules` is a name (or rule data, where `players` and `options` are not used); cards are text or numbers;
    `redeals` holds the later decks, as (hands, stock).
    """
    data = rules if isinstance(rules, dict) else naive.rule_set(rules, players=players, **options)
    decks, done = [(hands, stock), *redeals], 0
    for number, deck in enumerate(decks):
        deal = new_deal(data, dealer, *deck)
        deal.begin()
        compare(deal, events, done, 0)
        if deal.outcome != "redeal" or number + 1 == len(decks):
            break
        done += len(deal.events)
    while deal.phase != "over":
        deal.check_cards()
        known = len(deal.events)
        assert done + known < len(events), f"event {done + known} is missing: a {deal.phase} is due"
        follow(deal, events[done + known], done + known)
        compare(deal, events, done, known)
    deal.check_cards()
    assert len(events) == done + len(deal.events), f"event {done + len(deal.events)} comes after the end"
    return deal


def compare(deal, events, done, known):
    """The deal's events from `known` on must be those given."""
    for place in range(known, len(deal.events)):
        given = events[done + place] if done + place < len(events) else None
        due = deal.events[place]
        assert given == due, f"event {done + place} is {given}; the rules say {due}"


def follow(deal, event, place):
    """Do what the event says, after checking that it may be done."""
    if deal.phase == "draw":
        deal.draw()
    elif deal.phase == "discard":
        legal = codes_of(deal.seats[deal.turn].discardable())
        good = event["event"] == "discard" and event.get("seat") == deal.turn and event.get("card") in legal
        assert good, f"event {place} is {event}; seat {deal.turn} must discard one of {' '.join(legal)}"
        deal.discard(naive.card_number(event["card"]))
    else:
        deal.settle(answers_for(deal, event, place))


def answers_for(deal, event, place):
    """Legal answers that lead to the event: everybody else passes, or asks as weakly as it can."""
    answers, offers = [], deal.all_offers()
    for number in range(deal.players):
        if PASS in offers[number] or not offers[number]:
            answers.append(PASS if offers[number] else None)
        else:  # a forced drawer
            answers.append(max(offers[number], key=lambda answer: deal.level(deal.turn, answer)))
    taker = event.get("seat") if event["event"] in ("take", "win") else None
    if taker is not None:
        wanted = ("win", []) if event["event"] == "win" else (event.get("meld"), event.get("with"))
        answerable = offers[taker] if taker in range(deal.players) else []
        legal = {answer: (answer[0], codes_of(answer[1])) for answer in answerable}
        chosen = [answer for answer, coded in legal.items() if coded == wanted]
        assert chosen, f"event {place} is {event}; seat {taker} may answer {list(legal.values())}"
        answers[taker] = chosen[0]
    owner = deal.owner(answers)
    assert owner == taker, f"event {place} is {event}; but seat {owner} gets the card"
    return answers
