/*
 * A model of one room on two nodes that share a database: commits, hints, looks, sweeps, cursors and a removal.
 *
 * scripts/test-model explores all of its states. Each step below is one that the program takes without interruption; any step
 * of another thread, loop or node may come between two of them. The comments name the file in Sources that implements a step.
 * docs/trust.md says what is left out.
 *
 * A message is its revision, so sets of messages are bits: bit r is the message with the revision r + 1. No message is edited.
 * The names of `#ifdef` are the mutations of scripts/test-model.
 */

#ifndef MESSAGES
#define MESSAGES 4
#endif
#ifndef REMOVALS
#define REMOVALS 1
#endif
/* The nodes that clients connect to: both, or the first only, while the second only stores messages and removals. */
#ifndef PLACES
#define PLACES 2
#endif
#ifndef FAULTS
#define FAULTS 1
#endif

#define NIL 15
/* The messages after one revision, up to another. */
#define AFTER(since, rev) (((1 << (rev)) - 1) & ~((1 << (since)) - 1))
#define MAX(a, b) ((a) > (b) -> (a) : (b))

/* The subscriber 0 stays a member. The subscriber 1 may be removed. */
#define REMOVED 1

typedef Node {
    /* The hint on its way here: the highest revision, because hints are merged. Nodes/Hints, Notifier */
    byte hint;

    /* The position of the room. Nodes/FeedPositions */
    bool hasPosition;
    byte known = NIL;
    bool isPublished;
    byte hinted;
    bool isDue;
    bool isLooking;

    /* The listener's look: what it asked for, and its answer. Store/PostgreSQL/Nodes/HintListener, LookStatement */
    byte lookSince;
    byte lookRev = NIL;
    bool lookHasMore;

    /* A commit whose answer the writer has not yet reported; 0 if there is none. Store/PostgreSQL/Write/PostgresWriter */
    byte stored;

    /* The listener's batch on its way to the loop, which the writer may overtake. Server/Loop/LoopDispatcher */
    byte fromListenerSince;
    byte fromListener;
    bool listenerLacksMessages;

    /* The room's feed; it has a revision only once it was given a batch. Chat/Feed/Feed, FeedMessages, ByteLog */
    byte start = NIL;
    byte rev = NIL;
    byte frames;

    /* What is known of the removal. Nodes/AccessState, Chat/Access/AccessTerm, AccessEnds */
    bool knowsRemoval;
    byte asked = NIL;   /* the number of events that a read has found, until they are applied */
    bool isTermValid = true;
    bool isEndPosted;   /* announced to the loop, and not yet handled */
    bool hasRemoved;    /* this node has committed the removal, and not yet reported it */
};

typedef Subscriber {
    byte at;
    bool isOn;
    bool isEnded;       /* its client was told that it is no member */
    byte cursor;        /* Chat/Feed/Cursor */
    bool isLive;
    byte slice;         /* one of the values below. Chat/Feed/Subscription */
    byte sliceSince;
    byte sliceRev;
    bool sliceHasMore;
    byte got;           /* the messages that the client has received */
};

#define NONE 0
#define REQUESTED 1
#define READ 2
#define AGAIN 3         /* requested again, because the node did not know enough about access */

Node nodes[2];
Subscriber subscribers[2];
/* The database: the revision of the room, and whether the member is removed. */
byte rev;
bool isRemoved;
/* The removal was answered; and a second has passed since. */
bool isAnswered;
bool isOver;
byte faults;

/* A node without clients has nothing to do with its own hints, reports and terms. */
#define SERVES(n) (PLACES == 2 || (n) == 0)

#define HERE(c, n) (subscribers[c].isOn && subscribers[c].at == n)
#define HAS_SUBSCRIBERS(n) (HERE(0, n) || HERE(1, n))

/* FeedContext.knowsAccess */
#ifdef TERM_IGNORED
#define KNOWS_ACCESS(n) (!nodes[n].isEndPosted)
#elif defined(END_NOT_AWAITED)
#define KNOWS_ACCESS(n) (nodes[n].isTermValid)
#else
#define KNOWS_ACCESS(n) (nodes[n].isTermValid && !nodes[n].isEndPosted)
#endif

/* A client receives messages. These are the invariants of each step. */
inline receive(c, messages) {
    assert(!(c == REMOVED && isOver));                                  /* none after access ended */
    assert((subscribers[c].got & (messages)) == 0);                     /* no duplicate */
    subscribers[c].got = subscribers[c].got | (messages);
    assert((subscribers[c].got & (subscribers[c].got + 1)) == 0);       /* no gap */
}

inline makeDue(n) {
    if
    :: !nodes[n].isDue && !nodes[n].isLooking -> nodes[n].isDue = true
    :: else
    fi
}

inline forgetPosition(n) {
    nodes[n].hasPosition = false;
    nodes[n].known = NIL;
    nodes[n].isPublished = false;
    nodes[n].hinted = 0;
    nodes[n].isDue = false
}

/* FeedPositions.advance */
inline advance(n, to) {
    nodes[n].known = to;
    nodes[n].isPublished = true;
    if
    :: nodes[n].hinted > to -> makeDue(n)
    :: else
    fi
}

/* FeedPositions.hinted */
inline hear(n, to) {
    if
    :: !nodes[n].hasPosition && HAS_SUBSCRIBERS(n) ->
        nodes[n].hasPosition = true;
        nodes[n].hinted = to;
    :: nodes[n].hasPosition ->
        nodes[n].hinted = MAX(nodes[n].hinted, to);
        if
        :: nodes[n].known != NIL && to > nodes[n].known -> makeDue(n)
        :: else
        fi
    :: else
    fi
}

/* Feed.forgetSent: a feed whose subscribers have everything keeps no frames, and one without subscribers ends. */
inline forgetSent(n) {
    if
    :: !HAS_SUBSCRIBERS(n) ->
        nodes[n].start = NIL;
        nodes[n].rev = NIL;
        nodes[n].frames = 0
    :: else ->
        if
        :: nodes[n].rev != NIL && (!HERE(0, n) || subscribers[0].cursor >= nodes[n].rev) &&
            (!HERE(1, n) || subscribers[1].cursor >= nodes[n].rev) ->
            nodes[n].start = nodes[n].rev;
            nodes[n].frames = 0
        :: else
        fi
    fi
}

/* FeedMessages.append, ByteLog.append */
inline publish(n, since, to, messages) {
    if
    :: !HAS_SUBSCRIBERS(n)
#ifndef OLD_BATCH_KEPT
    :: HAS_SUBSCRIBERS(n) && nodes[n].rev != NIL && to <= nodes[n].rev
#endif
    :: else ->
        if
#ifdef FRAMES_JOINED
        :: nodes[n].rev == NIL ->
#else
        :: nodes[n].rev != since ->
#endif
            nodes[n].start = since;
            nodes[n].frames = 0
        :: else
        fi;
        nodes[n].frames = nodes[n].frames | (messages);
        nodes[n].rev = to;
        forgetSent(n)
    fi
}

inline leave(c) {
    subscribers[c].isOn = false;
    subscribers[c].cursor = 0;
    subscribers[c].isLive = false;
    forgetSent(subscribers[c].at)
}

inline removeSubscriber(c) {
    leave(c);
    subscribers[c].isEnded = true
}

inline forgetSlice(c) {
    subscribers[c].slice = NONE;
    subscribers[c].sliceSince = 0;
    subscribers[c].sliceRev = 0;
    subscribers[c].sliceHasMore = false
}

proctype server(byte n) {
end:
    do
    /* Send: the statement compares the number of revocations, so a node that lacks one decides again.
       Nodes/SendBatch, SendStatements */
    :: d_step {
#ifdef SEND_UNCHECKED
        rev < MESSAGES && nodes[n].stored == 0 ->
#else
        rev < MESSAGES && nodes[n].stored == 0 && nodes[n].knowsRemoval == isRemoved ->
#endif
        /* The sender may be the removed member, whom this node lets send as long as it does not know. */
        assert(nodes[n].knowsRemoval || !isRemoved);
        rev++;
        nodes[n].stored = rev * SERVES(n);
        nodes[1 - n].hint = rev * SERVES(1 - n)
    }

    /* Report of the commit: FeedPositions.committed; the loop takes its batch. Nodes/NodeFeeds */
    :: d_step {
        nodes[n].stored != 0 ->
        if
        :: nodes[n].known != NIL && nodes[n].stored <= nodes[n].known
        :: nodes[n].known != NIL && nodes[n].stored - 1 > nodes[n].known ->
            nodes[n].hinted = MAX(nodes[n].hinted, nodes[n].stored);
            makeDue(n)
        :: else ->
            publish(n, nodes[n].stored - 1, nodes[n].stored, AFTER(nodes[n].stored - 1, nodes[n].stored));
            if
            :: nodes[n].hasPosition -> advance(n, nodes[n].stored)
            :: else
            fi
        fi;
        nodes[n].stored = 0
    }

    /* The loop takes the batch of a look. Server/Loop/Worker.committed, Chat/Feed/Feed.publish */
    :: d_step {
        nodes[n].fromListener != 0 ->
        publish(n, nodes[n].fromListenerSince, nodes[n].fromListener,
            AFTER(nodes[n].fromListenerSince, nodes[n].fromListener) * !nodes[n].listenerLacksMessages);
        nodes[n].fromListenerSince = 0;
        nodes[n].fromListener = 0;
        nodes[n].listenerLacksMessages = false
    }
    /* A hint arrives. Store/PostgreSQL/Nodes/HintListener.turn */
    :: d_step {
        nodes[n].hint != 0 && !nodes[n].isLooking && nodes[n].fromListener == 0 ->
#ifdef HINT_TRUSTED
        if
        :: nodes[n].hasPosition && nodes[n].known != NIL && nodes[n].hint > nodes[n].known ->
            nodes[n].fromListenerSince = nodes[n].known;
            nodes[n].fromListener = nodes[n].hint;
            nodes[n].listenerLacksMessages = true;
            advance(n, nodes[n].hint)
        :: else -> hear(n, nodes[n].hint)
        fi;
#else
        hear(n, nodes[n].hint);
#endif
        nodes[n].hint = 0
    }
    /* A hint is lost. */
    :: d_step { nodes[n].hint != 0 -> nodes[n].hint = 0 }

    /* Sweep: the position is compared with the database, or forgotten if nobody subscribes. HintListener.sweep */
#ifndef NO_SWEEP
    :: d_step {
#ifdef SWEEP_STOPS_AT_GAP
        nodes[n].known != NIL && rev == nodes[n].known + 1 &&
#else
        nodes[n].known != NIL && rev > nodes[n].known &&
#endif
            HAS_SUBSCRIBERS(n) && !nodes[n].isDue && !nodes[n].isLooking ->
        hear(n, rev)
    }
#endif
    :: d_step {
        nodes[n].hasPosition && !HAS_SUBSCRIBERS(n) && !nodes[n].isLooking ->
        forgetPosition(n)
    }

    /* A look begins: FeedPositions.takeLooks */
    :: d_step {
        nodes[n].isDue && nodes[n].known != NIL && HAS_SUBSCRIBERS(n) ->
        nodes[n].isDue = false;
        nodes[n].isLooking = true;
        nodes[n].hinted = 0;
        nodes[n].lookSince = nodes[n].known
    }
    /* The database answers, with all changes or with the first: LookStatement.answers */
    :: d_step {
        nodes[n].isLooking && nodes[n].lookRev == NIL ->
        nodes[n].lookRev = rev
    }
    :: d_step {
        nodes[n].isLooking && nodes[n].lookRev == NIL && rev > nodes[n].lookSince + 1 ->
        nodes[n].lookRev = nodes[n].lookSince + 1;
        nodes[n].lookHasMore = true
    }
    /* FeedPositions.looked */
    :: d_step {
        nodes[n].lookRev != NIL && nodes[n].fromListener == 0 ->
        nodes[n].isLooking = false;
        if
        :: nodes[n].lookRev <= nodes[n].known ->
            if
            :: nodes[n].hinted > nodes[n].known || nodes[n].lookHasMore -> makeDue(n)
            :: else
            fi
        :: else ->
            nodes[n].fromListenerSince = nodes[n].lookSince;
            nodes[n].fromListener = nodes[n].lookRev;
            advance(n, nodes[n].lookRev);
#ifndef REST_OF_LOOK_FORGOTTEN
            if
            :: nodes[n].lookHasMore -> makeDue(n)
            :: else
            fi
#else
            nodes[n].known = rev
#endif
        fi;
        nodes[n].lookSince = 0;
        nodes[n].lookRev = NIL;
        nodes[n].lookHasMore = false
    }

    /* A feed has too many bytes, and drops those that a subscriber lacks. Feed.countKept, ByteLog.forget */
    :: d_step {
        nodes[n].rev != NIL && nodes[n].start < nodes[n].rev ->
        nodes[n].start = nodes[n].rev;
        nodes[n].frames = 0
    }

    /* A removal is committed here. Store/PostgreSQL/Write/PostgresCommits */
    :: d_step {
        REMOVALS && !isRemoved ->
        isRemoved = true;
        nodes[n].hasRemoved = true
    }
    /* It is announced to this node's loop, and then answered. Store/Write/WriterReports */
    :: d_step {
        nodes[n].hasRemoved ->
        nodes[n].hasRemoved = false;
        nodes[n].isEndPosted = SERVES(n);
        isAnswered = true
    }

    /* Events of access are read: because of a hint, every half second, or before a read. AccessState.catchUp */
    :: d_step {
        nodes[n].asked == NIL && (nodes[n].knowsRemoval != isRemoved || !nodes[n].isTermValid) ->
        nodes[n].asked = isRemoved;
#ifdef END_AFTER_TERM
        nodes[n].isTermValid = true
#endif
    }
    /* They are applied, and announced to the loop if another node has made them; then the term lasts for a second after the
       question. AccessState.apply, AccessOrder, AccessState.isCurrent */
    :: d_step {
        nodes[n].asked != NIL ->
        if
        :: nodes[n].asked == 1 && !nodes[n].knowsRemoval ->
            nodes[n].knowsRemoval = true;
#ifndef REMOVAL_FORGOTTEN
            nodes[n].isEndPosted = SERVES(n)
#endif
        :: else
        fi;
        if
        :: nodes[n].asked == 0 && isOver
        :: else -> nodes[n].isTermValid = true
        fi;
        nodes[n].asked = NIL
    }
    /* The loop ends the member's subscription. Server/Loop/Worker+Sockets */
    :: d_step {
        nodes[n].isEndPosted ->
        nodes[n].isEndPosted = false;
        if
        :: HERE(REMOVED, n) -> removeSubscriber(REMOVED)
        :: else
        fi
    }

    /* Fault: the node is killed, and starts again. */
    :: d_step {
        faults < FAULTS ->
        faults++;
        if
        :: HERE(0, n) -> leave(0)
        :: else
        fi;
        if
        :: HERE(1, n) -> leave(1)
        :: else
        fi;
        if
        :: subscribers[0].at == n -> forgetSlice(0)
        :: else
        fi;
        if
        :: subscribers[1].at == n -> forgetSlice(1)
        :: else
        fi;
        forgetPosition(n);
        nodes[n].hint = 0;
        nodes[n].isLooking = false;
        nodes[n].lookSince = 0;
        nodes[n].lookRev = NIL;
        nodes[n].lookHasMore = false;
        nodes[n].stored = 0;
        nodes[n].fromListenerSince = 0;
        nodes[n].fromListener = 0;
        nodes[n].listenerLacksMessages = false;
        nodes[n].asked = NIL;
        nodes[n].isTermValid = true;
        nodes[n].knowsRemoval = isRemoved;
        nodes[n].isEndPosted = false;
        nodes[n].hasRemoved = false
    }
    od
}

/* A subscription joins the feed with the revision up to which its client has everything. Server/Loop/Worker+Subscriptions */
inline join(c, n) {
    subscribers[c].at = n;
    subscribers[c].isOn = true;
    subscribers[c].cursor = (subscribers[c].got >= 1) + (subscribers[c].got >= 3) + (subscribers[c].got >= 7) +
        (subscribers[c].got >= 15);
    subscribers[c].slice = REQUESTED
}

#define AT nodes[subscribers[c].at]

/* A slice is read, unless the user is no member. Store/Read/ReadTransaction */
inline readSlice(c, to, hasMore) {
    if
    :: c == REMOVED && isRemoved && subscribers[c].isOn ->
        removeSubscriber(c);
        forgetSlice(c)
    :: else ->
        subscribers[c].slice = READ;
        subscribers[c].sliceSince = subscribers[c].cursor;
        subscribers[c].sliceRev = to;
        subscribers[c].sliceHasMore = hasMore
    fi
}

proctype client(byte c) {
end:
    do
    :: d_step { !subscribers[c].isOn && !subscribers[c].isEnded && subscribers[c].slice == NONE -> join(c, 0) }
    :: d_step { PLACES == 2 && !subscribers[c].isOn && !subscribers[c].isEnded && subscribers[c].slice == NONE -> join(c, 1) }

    /* A reader answers, with all changes or with the first. */
    :: d_step {
        (subscribers[c].slice == REQUESTED || subscribers[c].slice == AGAIN && KNOWS_ACCESS(subscribers[c].at)) ->
        if
        :: !subscribers[c].isOn -> forgetSlice(c)
        :: else -> readSlice(c, rev, false)
        fi
    }
    :: d_step {
        (subscribers[c].slice == REQUESTED || subscribers[c].slice == AGAIN && KNOWS_ACCESS(subscribers[c].at)) &&
            subscribers[c].isOn && rev > subscribers[c].cursor + 1 ->
        readSlice(c, subscribers[c].cursor + 1, true)
    }

    /* The position begins with the slice: FeedPositions.replayed, Nodes/NodeFeeds.answered. The loop takes it:
       Chat/Feed/Feed+Delivery.replayed */
    :: d_step {
        subscribers[c].slice == READ ->
        if
        :: subscribers[c].sliceHasMore
        :: !subscribers[c].sliceHasMore && AT.known == NIL ->
            AT.hasPosition = true;
            AT.known = subscribers[c].sliceRev;
            if
            :: AT.hinted > subscribers[c].sliceRev -> makeDue(subscribers[c].at)
            :: else
            fi
        :: else ->
#ifndef OLD_SLICE_UNTOLD
            if
            :: subscribers[c].sliceRev < AT.known && !AT.isPublished ->
                AT.isPublished = true;
                publish(subscribers[c].at, AT.known, AT.known, 0)
            :: else
            fi
#else
            skip
#endif
        fi;
        if
        :: !subscribers[c].isOn -> forgetSlice(c)
#ifndef SLICE_UNCHECKED
        :: subscribers[c].isOn && subscribers[c].sliceRev > subscribers[c].sliceSince && !KNOWS_ACCESS(subscribers[c].at) ->
            forgetSlice(c);
            subscribers[c].slice = AGAIN
#endif
        :: else ->
            if
            :: subscribers[c].sliceRev > subscribers[c].sliceSince ->
#ifdef CURSOR_AHEAD
                receive(c, AFTER(subscribers[c].sliceSince + (subscribers[c].got != 0), subscribers[c].sliceRev))
#else
                receive(c, AFTER(subscribers[c].sliceSince, subscribers[c].sliceRev))
#endif
            :: else
            fi;
#ifdef CURSOR_FROM_FEED
            subscribers[c].cursor = (AT.rev != NIL -> MAX(subscribers[c].sliceRev, AT.rev) : subscribers[c].sliceRev);
#else
            subscribers[c].cursor = MAX(subscribers[c].cursor, subscribers[c].sliceRev);
#endif
            if
            :: subscribers[c].sliceHasMore && !subscribers[c].isLive ->
                forgetSlice(c);
                subscribers[c].slice = REQUESTED
            :: else ->
                forgetSlice(c);
                subscribers[c].isLive = true
            fi;
            forgetSent(subscribers[c].at)
        fi
    }

    /* The loop sends the frames that the client lacks, or requests a slice. Feed+Delivery.deliver, ByteLog.next */
    :: d_step {
        subscribers[c].isOn && subscribers[c].isLive && subscribers[c].slice == NONE && KNOWS_ACCESS(subscribers[c].at) &&
            AT.rev != NIL && subscribers[c].cursor < AT.rev ->
        if
        :: subscribers[c].cursor < AT.start ->
#ifdef DROPPED_FRAMES_SKIPPED
            subscribers[c].cursor = AT.start
#else
            subscribers[c].slice = REQUESTED
#endif
        :: else ->
#ifdef CURSOR_BEHIND
            receive(c, AT.frames & AFTER(subscribers[c].cursor - (subscribers[c].cursor > AT.start), AT.rev));
#else
            receive(c, AT.frames & AFTER(subscribers[c].cursor, AT.rev));
#endif
            subscribers[c].cursor = AT.rev
        fi;
        forgetSent(subscribers[c].at)
    }

    /* Fault: the connection is lost. The client connects again, to either node. */
    :: d_step {
        faults < FAULTS && subscribers[c].isOn ->
        faults++;
        leave(c)
    }
    od
}

/* A second passes after the removal was answered: terms end that were extended by questions before it. Chat/Access/AccessTerm */
proctype clock() {
end:
    d_step {
        isAnswered ->
        isOver = true;
        if
        :: !nodes[0].knowsRemoval -> nodes[0].isTermValid = false
        :: else
        fi;
        if
        :: SERVES(1) && !nodes[1].knowsRemoval -> nodes[1].isTermValid = false
        :: else
        fi
    }
}

/* Nothing is left to do: all subscribers are equal, and the removed one has ended. */
proctype quiescence() {
end:
    timeout ->
    assert(rev == MESSAGES);
    assert(subscribers[0].isOn && subscribers[0].got == AFTER(0, MESSAGES));
    assert(isRemoved && subscribers[1].isEnded && !subscribers[1].isOn ||
        !isRemoved && subscribers[1].isOn && subscribers[1].got == AFTER(0, MESSAGES))
}

init {
    atomic {
        /* The nodes are alike, so the first subscriber begins at the first. */
        join(0, 0);
        run server(0);
        run server(1);
        run client(0);
        run client(1);
        run clock();
        run quiescence()
    }
}
