package dwell.comm

import java.util.concurrent.{CountDownLatch, TimeUnit}

import dwell.{LimitedSuite, Waiting}
import dwell.comm.ModelStore.Entry

/** The models that an executor keeps for its gangs. */
class ModelStoreSuite extends LimitedSuite {
  private var now = 0L
  private val store = new ModelStore(() => now)

  private def entry(maker: String, note: Option[String] = None) = Entry(maker, Array[Byte](1, 2), note)

  test("a fit goes by its age, which every use of one of its models renews") {
    for (fit <- 1L to 3L; version <- 1L to 2L) store.put(fit, version, entry("gang"))
    now += ModelStore.AbandonedMillis
    assert(store.get(1L, 1L).nonEmpty && store.newest(2L).isEmpty)
    now += 1L
    store.put(4L, 1L, entry("gang"))
    assert(store.entries == 5 && store.get(3L, 1L).isEmpty && store.get(1L, 2L).nonEmpty)
    Seq(1L, 2L, 4L).foreach(store.free)
    assert(store.entries == 0)
  }

  test("what was freed is not brought back") {
    store.put(5L, 1L, entry("gang"))
    store.free(5L)
    store.put(5L, 2L, entry("gang"))
    assert(store.entries == 0 && store.get(5L, 2L).isEmpty)
  }

  test("the newest is the highest version with a note") {
    for ((version, note) <- Seq(3L -> None, 1L -> Some("one"), 2L -> Some("two")))
      store.put(6L, version, entry("gang", note))
    assert(store.newest(6L).contains((2L, "two")))
    store.retain(6L, Set(1L, 3L, 4L))
    assert(store.newest(6L).contains((1L, "one")) && store.entries == 2)
    store.free(6L)
  }

  test("a model is waited for until its own maker has made it") {
    store.put(7L, 1L, entry("earlier gang"))
    val looks = new CountDownLatch(3)
    val waiter = new Thread(() => {
      store.await(7L, 1L, "gang")(looks.countDown())
      ()
    })
    waiter.start()
    assert(looks.await(Waiting.LimitSeconds, TimeUnit.SECONDS) && waiter.isAlive)
    store.put(7L, 1L, entry("gang"))
    eventually(assert(!waiter.isAlive))
    intercept[InterruptedException](store.await(7L, 2L, "gang")(throw new InterruptedException("the stage is over")))
    store.free(7L)
  }
}
