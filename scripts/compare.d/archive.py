"""Prints a room's messages for `backscroll import`: archive.py COUNT. They have about 120 characters, from 1,000 users."""

import datetime
import random
import sys

WORDS = "the release notes are in our folder and everybody who was there yesterday may add what is missing until noon".split()
BEGINNING = datetime.datetime(2020, 1, 1)

random.seed(1)
texts = [" ".join(random.choices(WORDS, k=22)) for _ in range(1000)]
for number in range(int(sys.argv[1])):
    at = (BEGINNING + datetime.timedelta(seconds=number)).isoformat()
    print(
        f'{{"room":"archive","sender":"user-{number % 1000}","client_message_id":"{number}","created_at":"{at}Z",'
        f'"text":"{random.choice(texts)}"}}'
    )
